"""`weft param`: values that the configurations of production lines read."""

import json
from datetime import datetime
from typing import Annotated, Any, Literal

from weft.cli.input.options import SHARED, App, Parameter, Shared, in_our_zone
from weft.cli.input.parameter_values import typed_value
from weft.cli.terminal.screen import at, cell
from weft.client.api import Api
from weft.client.http.calls import Document

app = App(
    name="param",
    help="Set and show values that configurations of production lines read.\n\n"
    "    weft param set search_first 7d",
)

Kind = Literal["text", "integer", "number", "boolean", "date", "list"]


@app.command(name="set")
def set_(
    name: str,
    value: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    kind: Annotated[Kind | None, Parameter(name="--type")] = None,
    shared: Shared = SHARED,
) -> int:
    """Give a parameter a value from now on.

    What reads as a number, true, false or a list in JSON is one, unless the parameter is a text.

        weft param set search_first 7d
        weft param set s2_start 2020-05-01 --type date

    Args:
        name: Name of the parameter.
        value: Its value.
        kind: Its type, if it is new.
    """

    async def send(client: Api) -> Document:
        known = kind
        if known is None:
            async for parameter in client.list_parameters():
                if parameter["parameter"] == name:
                    known = parameter["type"]
        given = {} if kind is None else {"type": kind}
        return await client.set_parameter(name, typed_value(value, known), **given)

    found = shared.ask(send)
    return shared.tell(
        found, f"parameter {name} is {_shown(found['value'])}, version {found['version']}"
    )


@app.command
def get(name: str | None = None, /, *, shared: Shared = SHARED) -> None:
    """Show a parameter, or all of them.

        weft param get search_first

    Args:
        name: Name of the parameter; without it, all.
    """
    if name is None:
        _print(shared.ask_all(lambda client: client.list_parameters()), shared)
        return
    found = shared.ask(lambda client: client.get_parameter(name))
    shared.tell(found, _shown(found["value"]), print)


@app.command
def history(name: str, /, *, shared: Shared = SHARED) -> None:
    """List the versions of a parameter, the newest first.

        weft param history search_first

    Args:
        name: Name of the parameter.
    """
    _print(shared.ask_all(lambda client: client.list_versions(name)), shared)


@app.command
def diff(since: datetime, until: datetime | None = None, /, *, shared: Shared = SHARED) -> int:
    """Show the parameters whose values changed between two dates.

        weft param diff 2027-01-01

    Args:
        since: A date, or a date with a time; without a zone, that of this host.
        until: The same; without it, now.
    """

    def at(date: datetime | None) -> dict[str, Any]:
        as_of = None
        if date is not None:
            as_of = in_our_zone(date, f"{date.isoformat()} is no time on this host").isoformat()
        found = shared.ask_all(lambda client: client.list_parameters(as_of))
        return {one["parameter"]: one for one in found}

    old, new = at(since), at(until)
    changed = [
        {"parameter": name, "before": old.get(name), "after": one}
        for name, one in new.items()
        if name not in old or old[name]["value"] != one["value"]
    ]
    return shared.table(
        changed,
        {
            "Parameter": "parameter",
            "Before": lambda row: _cut(row["before"], 40),
            "After": lambda row: _cut(row["after"], 40),
            "By": lambda row: row["after"]["set_by"],
        },
        spare=("By",),
    )


def _print(found: list[Any], shared: Shared) -> None:
    shared.table(
        found,
        {
            "Parameter": "parameter",
            "Value": lambda row: _cut(row, 60),
            "Version": "version",
            "Type": "type",
            "Set": at("set_at"),
            "By": "set_by",
        },
        spare=("Set", "By"),
    )


def _cut(parameter: Document | None, width: int) -> str:
    return "" if parameter is None else cell(_shown(parameter["value"]), width=width)


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
