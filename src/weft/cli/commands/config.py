"""`weft config`: every setting, and where its value comes from."""

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.screen import print_json, print_table
from weft.settings import Settings, Source, explain_settings

HIDDEN = "•••"
_PASSWORD = re.compile(r"\b((?:ssl)?password=)[^&]*", re.IGNORECASE)


def config(*, shared: Shared = SHARED) -> int:
    """Show each setting with its value and where that comes from.

        weft config

    Args:
        shared: Options of every command.
    """
    found = explain_settings({"home": shared.home})
    helps = {one.name: one.metadata["help"] + _limits(one.metadata) for one in fields(Settings)}
    if shared.json:
        print_json(
            {
                name: {"value": _shown(name, source), "from": source.origin, "help": helps[name]}
                for name, source in found.items()
            }
        )
        return 0
    rows = [
        (name, _shown(name, source), source.origin, helps[name]) for name, source in found.items()
    ]
    print_table(("Setting", "Value", "From", "Meaning"), rows)
    return 0


def _limits(of: Mapping[str, Any]) -> str:
    """Return what a setting's value may be, in brackets."""
    if of["choices"]:
        return f" ({', '.join(of['choices'])})"
    ends = (of["minimum"], of["maximum"])
    words = [
        f"{word} {end:,}"
        for word, end in zip(("at least", "at most"), ends, strict=True)
        if end is not None
    ]
    return f" ({', '.join(words)})" if words else ""


def _shown(name: str, source: Source) -> str | None:
    """Return the value as text, without what is secret in it."""
    if source.value is None:
        return None
    if name == "token":
        return HIDDEN
    if name == "database":
        parts = urlsplit(str(source.value))
        login, at, host = parts.netloc.rpartition("@")
        user = login.partition(":")[0]
        hidden = f"{user}:{HIDDEN}" if ":" in login else user
        query = _PASSWORD.sub(rf"\1{HIDDEN}", parts.query)
        return urlunsplit(parts._replace(netloc=f"{hidden}{at}{host}", query=query))
    return str(source.value)
