"""Watch events, from a position in the past or from now on."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from time import monotonic
from typing import Final

from weft.api.feeds import Feed, Position, Remembered, remembered
from weft.api.services import Services
from weft.core.errors import Unavailable
from weft.ports.store import Caller

CATCH_UP_ROWS: Final = 500
QUIET_S: Final = 15.0
"""After this time without events a watcher hears that there are none."""
AWAY_S: Final = 1.0


async def watch_events(
    services: Services, caller: Caller, *, batch_id: int | None, after: Position | None
) -> "EventWatch":
    """Return a watch of one batch or of all; `after` None: from now on.

    Raise `BatchNotFound`, or `EventsGone` if events after that position are removed already.
    """
    if batch_id is not None:
        await services.store.sees_batch(caller, batch_id)  # or single jobs of it
    if after is None:
        after = await services.store.events_now()
    else:
        await services.store.list_events(caller, after=after, batch_id=batch_id, limit=1)
    return EventWatch(services, caller, batch_id, after)


class EventWatch:
    """One watcher, at its own position. `position`: after the last event that it got."""

    def __init__(
        self, services: Services, caller: Caller, batch_id: int | None, after: Position
    ) -> None:
        self.position = after
        self._services = services
        self._caller = caller
        self._batch_id = batch_id
        self._spoke_at = monotonic()

    async def events(self) -> AsyncGenerator[Sequence[Remembered]]:
        """Yield new events in order until the server stops or the caller may no longer read them,
        and an empty sequence after `QUIET_S` without any. Raise `EventsGone` if the next
        events of a slow watcher are removed.
        """
        async with self._services.feeds.open(self._caller) as subscription:
            while not (self._services.closing.is_set() or subscription.is_over):
                found = await self._next(subscription.feed)
                if found is not None:
                    yield found
                    self._spoke_at = monotonic()
                    is_behind = len(found) >= CATCH_UP_ROWS  # there may be more
                    if found and not is_behind and (rest_s := self._services.feeds.rest_s()):
                        await asyncio.sleep(rest_s)

    async def _next(self, feed: Feed) -> Sequence[Remembered] | None:
        """Return the next events, none of them after a quiet time; None: look again."""
        if feed.position is None:
            return await self._wait(feed)
        if not feed.reaches(self.position):
            return await self._catch_up(feed)
        new = feed.since(self.position)
        self.position = max(self.position, feed.position)
        if not new:
            return await self._wait(feed)
        return [one for one in new if self._batch_id in {None, one.batch_id}] or None

    async def _wait(self, feed: Feed) -> Sequence[Remembered] | None:
        # Events of other batches change the feed, too, and this watcher hears nothing of them.
        left_s = max(0.0, self._spoke_at + QUIET_S - monotonic())
        return None if await feed.changed(left_s) else ()

    async def _catch_up(self, feed: Feed) -> Sequence[Remembered] | None:
        """Read from the database what is older than the feed's memory."""
        known = feed.position
        try:
            rows, position = await self._services.store.list_events(
                self._caller, after=self.position, batch_id=self._batch_id, limit=CATCH_UP_ROWS
            )
        except Unavailable:
            return None if await feed.changed(AWAY_S) else ()
        if known is not None and len(rows) < CATCH_UP_ROWS:
            position = max(position, known)  # nothing lies between, so go on with the feed
        self.position = position
        return [remembered(row, self._services.feeds.encode) for row in rows] or None
