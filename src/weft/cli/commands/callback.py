"""`weft callback`: list callbacks and send them again."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.cli.input.options import SHARED, App, Shared
from weft.cli.terminal.deliveries import DELIVERY, delivery_cells
from weft.cli.terminal.screen import note, print_table
from weft.core.ids import parse_batch_id

HEADER = ("Delivery", "Of", "What", *DELIVERY)
NUMBERS = ("Delivery", "What", "Attempts")

app = App(name="callback", help="List callbacks, and send them again.")


@app.command
def ls(batch: str, /, *, shared: Shared = SHARED) -> None:
    """List the callbacks of a batch and its groups.

        weft callback ls b12

    Args:
        batch: `b12`.
    """
    batch_id = parse_batch_id(batch)
    callbacks = shared.ask_all(lambda client: client.list_callbacks(batch_id))
    if not shared.as_json(callbacks):
        empty = "no callbacks yet: nothing with a callback has completed"
        print_table(HEADER, map(_row, callbacks), right=NUMBERS, empty=empty)


def _row(one: Mapping[str, Any]) -> tuple[object, ...]:
    return (
        one["delivery_id"],
        f"g{one['group_id']}" if one["group_id"] else "job" if one["event"] else "batch",
        one["completion"] or one["event"],
        *delivery_cells(one),
    )


@app.command
async def redeliver(batch: str, /, *deliveries: str, shared: Shared = SHARED) -> int:
    """Send undelivered callbacks again now, including those that were given up.

        weft callback redeliver b12 7

    Args:
        batch: `b12`.
        deliveries: Numbers as `weft callback ls b12` shows them, or names; default: all that were
            given up.
    """
    batch_id = parse_batch_id(batch)
    async with shared.client() as client:
        chosen: Sequence[int | str] = deliveries or [
            callback["delivery_id"]
            async for callback in client.list_callbacks(batch_id)
            if callback["state"] == "failed"
        ]
        answers = [await client.redeliver_callback(batch_id, one) for one in chosen]
    if shared.as_json(answers):
        return 0
    for answer in answers:
        note(f"{answer['delivery_id']}: will be sent again now")
    if not answers:
        note("no callback was given up")
    return 0


@app.command
async def secret(*, shared: Shared = SHARED) -> int:
    """Print the secret that signs your tenant's callbacks.

    weft callback secret
    """
    async with shared.client() as client:
        found = await client.callback_secret()
    return shared.tell({"secret": found}, found, print)
