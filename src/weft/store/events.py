"""Events of batches, in the stores of the api and the driver."""

import uuid
from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import (
    calls,
    truth,
)


class Events(StorePart):
    """The call that the api and the driver make."""

    async def list_events(
        self, caller: Caller, *, after: tuple[int, int], batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], tuple[int, int]]:
        """Return events after a position, in the order of `Last-Event-ID`, and the position
        reached: the same one if there are none. `batch_id`: only those of this batch.

        Only events older than every open writer are returned. Raise `EventsGone` if events after
        the position were removed.
        """
        rows = await self._database.call(
            "list_events",
            caller=caller,
            after_xid=after[0],
            after_event=after[1],
            of_batch_id=batch_id,
            limit_rows=limit,
        )
        position = (rows[-1]["xid"], rows[-1]["event_id"]) if rows else after
        return [dict(row) for row in rows], position


class HeardEvents(Events):
    """What an api needs besides to follow events."""

    _listener_id: uuid.UUID

    @calls(lambda rows: (rows[0]["xid"], rows[0]["event_id"]))
    async def events_now(self) -> tuple[int, int]:
        """Return the position after the newest event that readers may see."""

    @calls(truth, listener_id=lambda self: self._listener_id)
    async def wait_for_events(self, *, waits: bool = True) -> bool:
        """Tell the writers whether a listener waits (call, then list once more, then await
        `notices`).

        Return whether committed events are withheld because an older writer is open; if so, list
        again soon.
        """
