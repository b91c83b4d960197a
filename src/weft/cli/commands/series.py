"""`weft series`: items of a source that follow each other."""

from datetime import datetime

from cyclopts import App

from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.plain import cell
from weft.cli.terminal.screen import print_json, print_table

app = App(
    name="series",
    help="Show items of a source that follow each other.\n\n    weft series show scenes 32TLR",
)


@app.command
def show(source: str, key: str, /, *, shared: Shared = SHARED) -> int:
    """List the items of a series in their order, with jobs, or what they wait for.

        weft series show scenes 32TLR

    Args:
        source: Name of the source.
        key: Key of the series.
        shared: Options of every command.
    """
    found = shared.ask_all(lambda client: client.list_source_items(source, series=key))
    found.sort(key=lambda one: (one["series_at"], one["n"]))
    if shared.json:
        print_json(found)
        return 0
    rows = [
        (
            cell(one["key"], width=60),
            one["job"] or "",
            one["state"],
            f"{datetime.fromisoformat(one['found_at']).astimezone():%Y-%m-%d %H:%M:%S}",
            cell(one["reason"] or "", width=60),
        )
        for one in found
    ]
    print_table(("Key", "Job", "State", "Found", "Reason"), rows, spare=("Found",))
    return 0
