"""The events that somebody may see: the api streams them, the driver gives them to transports."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import StorePart


class Events(StorePart):
    """The call that both make."""

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
