"""`weft config`: every setting, its value and its origin."""

import re
import sys
from urllib.parse import urlsplit, urlunsplit

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.settings import note_misspelt_variables
from weft.cli.terminal.plain import plain
from weft.cli.terminal.screen import print_json, print_table
from weft.cli.terminal.wrapped import wrapped
from weft.settings import Declared, SettingValue, all_declared, explain_settings

HIDDEN = "•••"
INDENT = " " * 4
_PASSWORD = re.compile(r"\b((?:ssl)?password=)[^&]*", re.IGNORECASE)


def config(*, shared: Shared = SHARED) -> int:
    """Show each setting, its value and its origin.

        weft config

    Args:
        shared: Options of every command.
    """
    note_misspelt_variables()
    found = explain_settings({"home": shared.home})
    declared = all_declared()
    helps = {
        name: f"{one.help} ({one.limits})" if one.limits else one.help
        for name, one in declared.items()
    }
    shown = {name: _shown(declared[name], origin) for name, origin in found.items()}
    if shared.json:
        print_json(
            {
                name: {"value": shown[name], "from": origin.where, "help": helps[name]}
                for name, origin in found.items()
            }
        )
        return 0
    if sys.stdout.isatty():
        for name, origin in found.items():
            value = "not set" if shown[name] is None else plain(shown[name])
            print(wrapped(f"{name} = {value}  ({plain(origin.where)})", sys.stdout, rest=INDENT))
            print(wrapped(helps[name], sys.stdout, first=INDENT, rest=INDENT))
    else:
        rows = [(name, shown[name], origin.where, helps[name]) for name, origin in found.items()]
        print_table(("Setting", "Value", "From", "Meaning"), rows)
    return 0


def _shown(declared: Declared, origin: SettingValue) -> str | None:
    """Return the value as text; of a secret DSN all but the password, of other secrets nothing."""
    if origin.value is None:
        return None
    text = str(origin.value)
    if declared.is_secret and "://" not in text:
        return HIDDEN
    if declared.is_secret:
        try:
            parts = urlsplit(text)
        except ValueError:  # no URL, but it may hold a password
            return HIDDEN
        login, at, host = parts.netloc.rpartition("@")
        user = login.partition(":")[0]
        hidden = f"{user}:{HIDDEN}" if ":" in login else user
        query = _PASSWORD.sub(rf"\1{HIDDEN}", parts.query)
        return urlunsplit(parts._replace(netloc=f"{hidden}{at}{host}", query=query))
    return text
