"""`weft series`: items of a source that follow each other."""

from typing import Annotated

from weft.cli.input.options import SHARED, App, Parameter, Shared
from weft.cli.terminal.screen import note, print_json
from weft_lines.commands.source import print_items

app = App(
    name="series",
    help="Show items of a source that follow each other, and run them again.\n\n"
    "    weft series show scenes 32TLR",
)


@app.command
def rerun(
    source: str,
    key: str,
    /,
    *,
    since: Annotated[str, Parameter(name="--from")],
    shared: Shared = SHARED,
) -> None:
    """Let items of a series run again from a date on, each after the one before it.

        weft series rerun scenes 32TLR --from 2027-04-13

    Args:
        source: Name of the source.
        key: Key of the series.
        since: A date or a number, as the items have it; a date without a zone is in UTC.
    """
    found = shared.ask(lambda client: client.rerun_series(source, key, _place(since)))
    if shared.json:
        print_json(found)
    elif found["n_items"]:
        n = found["n_items"]
        note(f"{n:,} item{'s' * (n != 1)} of series {key} will run again")
    else:
        note(f"series {key} has no item from {since} on that was decided")


def _place(given: str) -> str | float:
    try:
        return float(given)
    except ValueError:
        return given


@app.command
def show(source: str, key: str, /, *, shared: Shared = SHARED) -> None:
    """List the items of a series in their order, with jobs, or what they wait for.

        weft series show scenes 32TLR

    Args:
        source: Name of the source.
        key: Key of the series.
    """
    found = shared.ask_all(lambda client: client.list_source_items(source, series=key))
    found.sort(key=lambda one: (one["series_at"], one["n"]))
    print_items(found, shared)
