"""`weft callback`: list callbacks and send them again."""

from collections.abc import Sequence

from weft.cli.input.options import SHARED, App, Shared
from weft.cli.terminal.deliveries import DELIVERY
from weft.cli.terminal.screen import Columns, note
from weft.core.ids import parse_batch_id

COLUMNS: Columns = {
    "Delivery": "delivery_id",
    "Of": lambda row: (
        f"g{row['group_id']}" if row["group_id"] else "job" if row["event"] else "batch"
    ),
    "What": lambda row: row["completion"] or row["event"],
    **DELIVERY,
}

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
    shared.table(
        callbacks,
        COLUMNS,
        right=("Delivery", "What", "Attempts"),
        empty="no callbacks yet: nothing with a callback has completed",
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
            if callback["state"] == "given_up"
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
def secret(*, shared: Shared = SHARED) -> int:
    """Print the secret that signs your tenant's callbacks.

    weft callback secret
    """
    found = shared.ask(lambda client: client.callback_secret())
    return shared.tell({"secret": found}, found, print)
