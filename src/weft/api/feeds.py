"""Events for streams: one connection that listens, one loop that reads, any number of streams.

A feed keeps the newest events of one user, encoded. A stream has a position of its own: while the
feed's memory reaches back to it the stream is served from there, else it reads from the database
until it has caught up. So a slow stream holds up nobody, and no stream can miss an event or get
one twice: positions are those of the database. With no streams nothing listens and nothing is
asked.
"""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from weft.api.http.sse import message
from weft.core.errors import Unavailable
from weft.core.states import JobState
from weft.ports.store import ApiStore, Caller, Notices, Row
from weft.telemetry.log import get_logger

Position = tuple[int, int]
READ_ROWS: Final = 1000
MEMORY_BYTES_MAX: Final = 4 << 20
AWAY_S: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
WITHHELD_S: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""An event is shown when no older writer is open. Nobody tells when that is so."""
BUSY_S: Final = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
"""Pauses between looks while each finds something."""
EMPTY_MAX: Final = 2
"""So many looks in a row may find nothing when many have found something: to go to sleep and be
woken costs two commits.
"""
SHORT_SLEEP_S: Final = 0.1
"""Who is woken so soon goes on with the rhythm that he had."""
NOW_S: Final = 60.0
"""So often it is asked how far events are, for those of whom there are none, while others come."""
SAID_AGAIN_S: Final = 6 * 3600.0
"""So often a sleeper says that he waits: who was not heard of for a day is forgotten."""
log = get_logger()


class Remembered(NamedTuple):
    """One event, ready to be sent."""

    position: Position
    batch_id: int
    jobs: Sequence[int]
    message: bytes


def remembered(row: Row) -> Remembered:
    """Return an event of the store as it is sent."""
    position = (row["xid"], row["event_id"])
    document = event_document(row)
    encoded = message(document, kind=row["kind"], id_=document["id"])
    return Remembered(position, row["batch_id"], row["jobs"], encoded)


def event_document(row: Row) -> Mapping[str, Any]:
    """Return the document of an event (DESIGN section 8)."""
    return {
        "id": f"{row['xid']}-{row['event_id']}",
        "at": row["at"],
        "kind": row["kind"],
        "batch_id": row["batch_id"],
        "from": _word(row["from_state"]),
        "to": _word(row["to_state"]),
        "jobs": row["jobs"],
        "groups": row["groups"],
        "trace_id": row["trace_id"],
    }


def _word(state: int | None) -> str | None:
    return None if state is None else JobState(state).word


class Feed:
    """The events of one user, as they come."""

    def __init__(self, store: ApiStore, caller: Caller) -> None:
        self._store = store
        self._caller = caller
        self._memory: deque[Remembered] = deque()
        self._memory_bytes = 0
        self._changed = asyncio.Event()
        self._known_from: Position | None = None
        self.position: Position | None = None
        """Everything up to here has been read; None: the database has not answered yet."""
        self.n_streams = 0

    def reaches(self, position: Position) -> bool:
        """Say whether everything after this position is remembered."""
        return self._known_from is not None and self._known_from <= position

    def since(self, position: Position) -> list[Remembered]:
        """Return what is remembered after this position."""
        return [one for one in self._memory if one.position > position]

    def next_changes(self) -> "Changes":
        """Return what happens from now on."""
        return Changes(self, self.position, self._changed)

    async def changed(self, timeout_s: float) -> bool:
        """Wait until something was read; False if nothing was for so long."""
        return await self.next_changes().happened(timeout_s)

    def tell(self) -> None:
        """Wake the streams."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def read(self, now: Position | None) -> bool:
        """Read all that is new; say whether anything was. `now`: what `events_now` said before, if
        it was asked; the first time it must be.
        """
        if self.position is None:
            assert now is not None
            self._known_from = self.position = now
            self.tell()
        found = False
        while True:
            rows, self.position = await self._store.list_events(
                self._caller, after=self.position, batch_id=None, limit=READ_ROWS
            )
            for row in rows:
                self._remember(remembered(row))
            if rows:
                found = True
                self.tell()
            if len(rows) < READ_ROWS:
                # Who stayed at his own last event would be told that it is gone one day.
                self.position = max(self.position, now or self.position)
                return found

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
        self._woken = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._asked_now_at = -NOW_S
        self._ending: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def open(self, caller: Caller) -> AsyncIterator[Feed]:
        """Hold the feed of a user for one stream."""
        key = (caller.tenant_id, caller.user_id)
        feed = self._feeds.setdefault(key, Feed(self._store, caller))
        feed.n_streams += 1
        self._woken.set()
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._listen(), name="feeds.listen"),
                asyncio.create_task(self._read(), name="feeds.read"),
            ]
        try:
            yield feed
        finally:
            feed.n_streams -= 1
            if feed.n_streams == 0:
                del self._feeds[key]
            if not self._feeds:
                tasks, self._tasks = self._tasks, []
                # Not here: a stream whose client has gone is being cancelled, at every await.
                self._ending = asyncio.create_task(self._end(tasks), name="feeds.end")

    def tell_all(self) -> None:
        """Wake all streams, so that they see that the server stops."""
        for feed in self._feeds.values():
            feed.tell()

    async def finish(self) -> None:
        """Wait until nobody listens any more; the streams have ended."""
        if self._ending is not None:
            await asyncio.wait({self._ending})

    async def _listen(self) -> None:
        """Wake the reader at every notice, and when listening has begun."""
        failures = 0
        while True:
            notices = self._notices.listen("events")
            try:
                async for _ in notices:
                    failures = 0
                    self._woken.set()
            except Unavailable as error:
                if failures == 0:
                    log.warning("notices.lost", error=error.message)
                await _pause(AWAY_S, failures)
                failures += 1
            finally:
                close = getattr(notices, "aclose", None)
                if close is not None:
                    await close()

    async def _read(self) -> None:
        """Read for all feeds until cancelled. The database may go away and come back."""
        await self.finish()  # else its last word could come after our first
        failures = busy = 0
        while True:
            try:
                busy = await self._read_until_quiet(busy)
                failures = 0
                asleep = time.monotonic()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(SAID_AGAIN_S):
                        await self._woken.wait()
                if time.monotonic() - asleep > SHORT_SLEEP_S:
                    busy = 0
                await self._store.wait_for_events(waits=False)
            except Exception as error:
                # The streams would wait for ever if this loop ended.
                if not isinstance(error, Unavailable):
                    log.exception("feed.failed")
                await _pause(AWAY_S, failures)
                failures += 1

    async def _read_until_quiet(self, busy: int) -> int:
        """Return when everything is read and a notice will tell of the next event.

        `busy`: so many looks have found something lately; returned is their number now.
        """
        empty = withheld = 0
        while True:
            self._woken.clear()
            found = await self._read_all()
            empty = 0 if found else empty + 1
            if found or (busy >= len(BUSY_S) and empty <= EMPTY_MAX):
                # More comes soon, as a rule: to look now and then costs less than to go to sleep.
                await _pause(BUSY_S, busy)
                busy += found
                continue
            is_withheld = await self._store.wait_for_events()
            if not await self._read_all(before_sleep=True) and not is_withheld:
                return busy
            await _pause(WITHHELD_S, withheld)
            withheld += 1

    async def _read_all(self, *, before_sleep: bool = False) -> bool:
        feeds = list(self._feeds.values())  # a list, because streams come and go meanwhile
        now = None
        if (
            before_sleep
            or any(feed.position is None for feed in feeds)
            or time.monotonic() - self._asked_now_at > NOW_S
        ):
            now = await self._store.events_now()
            self._asked_now_at = time.monotonic()
        found = [await feed.read(now) for feed in feeds]
        return any(found)

    async def _end(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Stop listening, and tell the writers."""
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if not self._tasks:  # else a new stream has come, which waits
            with contextlib.suppress(Unavailable):
                await self._store.wait_for_events(waits=False)


async def _pause(steps_s: Sequence[float], attempts: int) -> None:
    await asyncio.sleep(steps_s[min(attempts, len(steps_s) - 1)])
