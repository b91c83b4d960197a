"""`weft config`: every setting, its value and its origin."""

import sys

from weft.cli.input.options import LOCAL, Local
from weft.cli.input.settings import note_misspelt_variables
from weft.cli.terminal.plain import wrapped
from weft.cli.terminal.report import print_error
from weft.cli.terminal.screen import plain, print_json, print_table
from weft.settings import all_declared, explain_settings, shown_value

INDENT = " " * 4


def config(*, shared: Local = LOCAL) -> int:
    """Show each setting, its value and its origin, then which are wrong.

    weft config
    """
    note_misspelt_variables()
    found, wrong = explain_settings({"home": shared.home})
    declared = all_declared()
    helps = {
        name: f"{one.help} ({one.limits})" if one.limits else one.help
        for name, one in declared.items()
    }
    shown = {name: shown_value(declared[name], origin.value) for name, origin in found.items()}
    if shared.json:
        print_json(
            {
                name: {"value": shown[name], "from": origin.where, "help": helps[name]}
                for name, origin in found.items()
            }
        )
    elif sys.stdout.isatty():
        for name, origin in found.items():
            value = "not set" if shown[name] is None else plain(shown[name])
            print(wrapped(f"{name} = {value}  ({plain(origin.where)})", sys.stdout, rest=INDENT))
            print(wrapped(helps[name], sys.stdout, first=INDENT, rest=INDENT))
    else:
        rows = [(name, shown[name], origin.where, helps[name]) for name, origin in found.items()]
        print_table(("Setting", "Value", "From", "Meaning"), rows)
    if wrong is None:
        return 0
    if wrong.errors:
        wrong.hint = "Correct or remove it, then start weft again if it runs."
    print_error(wrong, as_json=shared.json)
    return wrong.exit_code
