"""Events for streams: one connection that listens, one reader per user who has streams, any number
of streams.

A reader keeps the newest events, encoded. A stream has a position of its own: while the
reader's memory reaches back to it the stream is served from there, else it reads from the
database until it has caught up. So a slow stream holds up nobody, and no stream can miss an
event or get one twice: positions are those of the database. With no streams nothing listens and
nothing is asked.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from weft.api.sse import event_message
from weft.core.errors import Unavailable
from weft.ports.store import ApiStore, Caller, Notices, Row
from weft.telemetry.log import get_logger

Position = tuple[int, int]
READ_ROWS: Final = 1000
MEMORY_BYTES_MAX: Final = 4 << 20
AWAY_S: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
HIDDEN_S: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""An event is shown when no older writer is open. Nobody tells when that is so, so it is looked
for in these steps.
"""
log = get_logger()


class Remembered(NamedTuple):
    """One event, ready to be sent."""

    position: Position
    batch_id: int
    jobs: Sequence[int]
    message: bytes


def position_of(row: Row) -> Position:
    """Return the position of an event; its id is `xid-number`."""
    xid, _, number = str(row["id"]).partition("-")
    return int(xid), int(number)


class Feed:
    """The events of one user, as they come."""

    def __init__(self, store: ApiStore, caller: Caller) -> None:
        self._store = store
        self._caller = caller
        self._memory: deque[Remembered] = deque()
        self._memory_bytes = 0
        self._woken = asyncio.Event()
        self._changed = asyncio.Event()
        self._known_from: Position | None = None
        self.position: Position | None = None
        """Everything up to here has been read; None: the database has not answered yet."""
        self.n_streams = 0
        self.task: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look for new events."""
        self._woken.set()

    def reaches(self, position: Position) -> bool:
        """Say whether everything after this position is remembered."""
        return self._known_from is not None and self._known_from <= position

    def since(self, position: Position) -> list[Remembered]:
        """Return what is remembered after this position."""
        return [one for one in self._memory if one.position > position]

    async def changed(self, timeout_s: float) -> bool:
        """Wait until something was read; False if nothing was for so long."""
        return await self.next_changes().happened(timeout_s)

    def next_changes(self) -> "Changes":
        """Return what happens from now on."""
        return Changes(self, self.position, self._changed)

    def tell(self) -> None:
        """Wake the streams."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def run(self) -> None:
        """Read until cancelled. The database may go away and come back."""
        failures = 0
        while True:
            try:
                await self._read_and_wait()
                failures = 0
            except Exception as error:
                # Its streams would wait for ever if this loop ended.
                if not isinstance(error, Unavailable):
                    log.exception("feed.failed")
                await asyncio.sleep(AWAY_S[min(failures, len(AWAY_S) - 1)])
                failures += 1

    async def _read_and_wait(self) -> None:
        if self.position is None:
            self._known_from = self.position = await self._store.events_now()
            self.tell()
        self._woken.clear()
        await self._read()
        await self._store.wait_for_events()
        for delay_s in (*HIDDEN_S, None):
            await self._read()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay_s):
                    await self._woken.wait()
                    return

    async def _read(self) -> None:
        """Read all that is new."""
        while self.position is not None:
            rows, position = await self._store.list_events(
                self._caller, after=self.position, batch_id=None, limit=READ_ROWS
            )
            for row in rows:
                self._remember(
                    Remembered(position_of(row), row["batch_id"], row["jobs"], event_message(row))
                )
            is_new = position != self.position
            self.position = position
            if is_new:
                self.tell()
            if len(rows) < READ_ROWS:
                return

    def _remember(self, event: Remembered) -> None:
        self._memory.append(event)
        self._memory_bytes += len(event.message)
        while self._memory_bytes > MEMORY_BYTES_MAX and len(self._memory) > 1:
            oldest = self._memory.popleft()
            self._memory_bytes -= len(oldest.message)
            self._known_from = oldest.position


@dataclass(frozen=True)
class Changes:
    """What happens after a moment."""

    feed: Feed
    after: Position | None
    _changed: asyncio.Event

    async def happened(self, timeout_s: float | None) -> bool:
        """Wait until something did; False if nothing has for so long."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def names(self, batch_id: int, job_id: int) -> bool:
        """Say whether an event since then names this job; also if they are not remembered."""
        if self.after is None or not self.feed.reaches(self.after):
            return True
        return any(
            one.batch_id == batch_id and job_id in one.jobs for one in self.feed.since(self.after)
        )


class Feeds:
    """The feeds of all users who have streams."""

    def __init__(self, store: ApiStore, notices: Notices) -> None:
        self._store = store
        self._notices = notices
        self._feeds: dict[tuple[int, int], Feed] = {}
        self._listener: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def open(self, caller: Caller) -> AsyncIterator[Feed]:
        """Hold the feed of a user for one stream."""
        key = (caller.tenant_id, caller.user_id)
        feed = self._feeds.get(key)
        if feed is None:
            feed = self._feeds[key] = Feed(self._store, caller)
            feed.task = asyncio.create_task(feed.run(), name="feed")
        feed.n_streams += 1
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen(), name="feeds.listen")
        try:
            yield feed
        finally:
            feed.n_streams -= 1
            if feed.n_streams == 0:
                del self._feeds[key]
                await _end(feed.task)
            if not self._feeds and self._listener is not None:
                listener, self._listener = self._listener, None
                await _end(listener)

    def tell_all(self) -> None:
        """Wake all streams, so that they see that the server stops."""
        for feed in self._feeds.values():
            feed.tell()

    async def _listen(self) -> None:
        failures = 0
        while True:
            try:
                notices = self._notices.listen("events")
                async with contextlib.aclosing(_items(notices)) as items:
                    async for _ in items:
                        failures = 0
                        for feed in self._feeds.values():
                            feed.wake()
            except Unavailable as error:
                delay_s = AWAY_S[min(failures, len(AWAY_S) - 1)]
                if failures == 0:
                    log.warning("notices.lost", error=error.message)
                failures += 1
                await asyncio.sleep(delay_s)


async def _items(source: AsyncIterator[Any]) -> AsyncGenerator[None, None]:
    """Make a generator of any iterator, so that it can be closed."""
    try:
        async for _ in source:
            yield
    finally:
        close: Callable[[], Any] | None = getattr(source, "aclose", None)
        if close is not None:
            await close()


async def _end(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
