"""Watch events, from a position in the past or from now on."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from time import monotonic
from typing import Final

from weft.api.feeds import Feed, Position, Remembered, remembered
from weft.api.services import Services
from weft.core.errors import Unavailable
from weft.ports.patience import wait_at_most
from weft.ports.store import Caller

CATCH_UP_ROWS: Final = 500
QUIET_S: Final = 15.0
"""After this time without events a watcher hears that there are none."""
AWAY_S: Final = 1.0
CATCH_UP_PAUSES: Final = 3
"""Where there are many, no other stream of a user reads for this many times as long as one."""


async def watch_events(
    services: Services,
    caller: Caller,
    *,
    batch_id: int | None,
    after: Position | None,
    of_page: bool = False,
) -> "EventWatch":
    """Return a watch of one batch or of all; `after` None: from now on; `of_page`: for a page,
    which is not read again after each event.

    Raise `BatchNotFound`, or `EventsGone` if events after that position are removed already.
    """
    if batch_id is not None:
        await services.store.sees_batch(caller, batch_id)  # or single jobs of it
    if after is None:
        after = await services.store.events_now()
    else:
        await services.store.list_events(caller, after=after, batch_id=batch_id, limit=1)
    return EventWatch(services, caller, batch_id, after, of_page=of_page)


class EventWatch:
    """One watcher of a batch, or of all (None), at its position: after the last event it got."""

    def __init__(
        self,
        services: Services,
        caller: Caller,
        batch_id: int | None,
        after: Position,
        *,
        of_page: bool,
    ) -> None:
        self.position = after
        self._services = services
        self._caller = caller
        self.batch_id = batch_id
        self._of_page = of_page
        self._spoke_at = monotonic()

    async def events(self) -> AsyncGenerator[Sequence[Remembered]]:
        """Yield new events in order until the server stops, and an empty sequence after `QUIET_S`
        without any. Raise `EventsGone` if the next events of a slow watcher are removed.
        """
        feeds = self._services.feeds
        async with feeds.open(self._caller, of_page=self._of_page) as feed:
            while not self._services.closing.is_set():
                found = await self._next(feed)
                if found is not None:
                    yield found
                    self._spoke_at = monotonic()
                    is_behind = not feed.reaches(self.position)
                    rest_s = feeds.rest_s(self._caller.tenant_id, of_page=self._of_page)
                    if found and not is_behind and rest_s:
                        await wait_at_most(rest_s, self._services.closing)

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
        return [one for one in new if self.batch_id in {None, one.batch_id}] or None

    async def _wait(self, feed: Feed) -> Sequence[Remembered] | None:
        left_s = max(0.0, self._spoke_at + QUIET_S - monotonic())
        if await feed.changed(left_s, self.batch_id):
            return None
        # Of other batches much may have happened, which need not be looked through one day.
        self.position = max(self.position, feed.position or self.position)
        return ()

    async def _catch_up(self, feed: Feed) -> Sequence[Remembered] | None:
        """Read from the database what is older than the feed's memory."""
        feeds, closing = self._services.feeds, self._services.closing
        turn = feeds.catch_up(self._caller.user_id)
        try:
            async with asyncio.timeout(QUIET_S):
                await turn.acquire()
        except TimeoutError:
            return ()  # a word for whoever listens; then it waits again, behind the others
        try:
            if closing.is_set():
                return None
            known, begun = feed.position, monotonic()
            rows, position = await self._services.store.list_events(
                self._caller, after=self.position, batch_id=self.batch_id, limit=CATCH_UP_ROWS
            )
            new = [remembered(row, feeds.encode) for row in rows]
            if feeds.rest_s(self._caller.tenant_id):
                await wait_at_most(CATCH_UP_PAUSES * (monotonic() - begun), closing)
        except Unavailable:
            return None if await feed.changed(AWAY_S) else ()
        finally:
            turn.release()
        if known is not None and len(rows) < CATCH_UP_ROWS:
            position = max(position, known)  # nothing lies between, so go on with the feed
        self.position = position
        return new or None
