"""`weft operation`: work that the server does in the background."""

from collections.abc import Mapping
from typing import Any

from weft.cli.input.options import SHARED, App, Limit, Number, Shared
from weft.cli.terminal.screen import moment, print_table
from weft.core.ids import format_batch_id

app = App(
    name="operation",
    help="List operations, or cancel one on many batches.\n\n    weft operation ls",
)

HEADER = ("ID", "Operation", "On", "State", "Done", "Begun")


@app.command(name="ls")
def list_all(*, limit: Limit = 20, shared: Shared = SHARED) -> int:
    """List operations, newest first: retries, deletions and other work on whole batches.

        weft operation ls

    Args:
        limit: Show at most this number of operations; 0: all.
    """
    operations = shared.ask_all(lambda client: client.list_operations(), limit)
    if not shared.as_json(operations):
        print_table(
            HEADER,
            map(_row, operations),
            right=("ID", "Done"),
            spare=("Begun",),
            empty="no operations; work on whole batches makes one, such as `weft delete`",
        )
    return 0


@app.command(name="cancel")
def cancel(operation_id: Number, /, *, shared: Shared = SHARED) -> None:
    """Cancel an operation on many batches. What it has done stays done.

        weft operation cancel 12

    Args:
        operation_id: Its number, as `weft operation ls` shows it.
    """
    found = shared.ask(lambda client: client.cancel_operation(operation_id))
    said = f"had ended ({found['state']}): nothing to cancel"
    if found["state"] == "cancelled":
        said = f"is cancelled; {found['result']['n_changed']:,} changed"
    shared.tell(found, f"operation {operation_id} {said}")


def _row(one: Mapping[str, Any]) -> tuple[str, ...]:
    if one["batch_id"] is None:
        on, kind = f"{one['result']['n_changed']:,} changed", f"{one['result']['action']} batches"
    else:
        on, kind = format_batch_id(one["batch_id"]), one["kind"].replace("_", " ")
    done = f"{100 * one['done'] // one['total']} %" if one["total"] else ""
    return str(one["id"]), kind, on, one["state"], done, moment(one["created_at"])
