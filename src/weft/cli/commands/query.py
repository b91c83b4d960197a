"""`weft query`: queries for batches that have names."""

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.signature import App
from weft.cli.terminal.amounts import moment
from weft.cli.terminal.plain import cell, one_line
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_table

app = App(
    name="query",
    help="Save, list and remove queries for batches.\n\n"
    "    weft query save broken 'state = failure'\n\n"
    "    weft ls @broken",
)

HEADER = ("Name", "Query", "Saved")


@app.command(name="save")
def save(name: str, query: str, /, *, shared: Shared = SHARED) -> None:
    """Save a query for batches, in place of one of the same name.

        weft query save broken 'state = failure'

    Then `weft ls @broken` lists what it finds.

    Args:
        name: Its name, such as broken.
        query: The query.
    """
    found = shared.ask(lambda client: client.save_query(name, query))
    shared.tell(found, f"saved; `weft ls @{name}` lists what it finds")


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List your saved queries by name.

    weft query ls
    """
    found = shared.ask(lambda client: client.list_saved_queries())
    if shared.as_json(found):
        return
    rows = [
        (one["name"], cell(one["query"], width=80), moment(one["updated_at"])) for one in found
    ]
    empty = "you have no saved queries; `weft query save NAME QUERY` saves one"
    print_table(HEADER, rows, spare=("Saved",), empty=empty)


@app.command(name="rm")
def remove(name: str, /, *, shared: Shared = SHARED) -> None:
    """Forget a saved query.

        weft query rm broken

    Args:
        name: Its name.
    """
    shared.ask(lambda client: client.remove_saved_query(name))
    if not shared.as_json({"name": name}):
        note(f"query {one_line(name, width=64)} is gone")
