"""`weft query`: queries for batches that have names."""

from weft.cli.input.options import SHARED, App, Shared
from weft.cli.terminal.screen import at, long_text, one_line

app = App(
    name="query",
    help="Save, list and remove queries for batches.\n\n"
    "    weft query save broken 'state = failure'\n\n"
    "    weft ls @broken",
)


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
    shared.table(
        found,
        {
            "Name": "name",
            "Query": long_text("query", 80),
            "Saved": at("updated_at"),
        },
        spare=("Saved",),
        empty="you have no saved queries; `weft query save NAME QUERY` saves one",
    )


@app.command(name="rm")
def remove(name: str, /, *, shared: Shared = SHARED) -> None:
    """Forget a saved query.

        weft query rm broken

    Args:
        name: Its name.
    """
    shared.ask(lambda client: client.remove_saved_query(name))
    shared.tell({"name": name}, f"query {one_line(name, width=64)} is gone")
