"""`weft series`: items of a source that follow each other."""

from cyclopts import App

from weft.cli.commands.source import print_items
from weft.cli.input.options import SHARED, Shared

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
    return print_items(found, shared)
