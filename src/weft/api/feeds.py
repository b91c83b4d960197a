"""Events for streams: one connection that listens, one loop that reads, any number of streams.

A feed keeps the newest events of one user, encoded once for all streams. A stream has a position
of its own: while the feed's memory reaches back to it, the stream is served from there; otherwise
it reads from the database until it has caught up. So a slow stream delays no other, and no stream
misses or repeats an event: positions are those of the database. Without streams nothing listens
and nothing is read.
"""

import asyncio
import contextlib
import itertools
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from weft.core.errors import Unavailable
from weft.ports.patience import end_tasks, wait_at_most
from weft.ports.store import Caller, Notices, Row
from weft.store import ApiStore
from weft.telemetry.log import log

Position = tuple[int, int]
READ_ROWS: Final = 1000
MEMORY_BYTES_MAX: Final = 4 << 20
NUMBER_BYTES: Final = 40
AWAY_S: Final = (0.05, 0.1, 0.2, 0.5, 1.0)
AWAY_FEEDS: Final = 3
"""When this number of feeds find no database, and none before them did, it is away for all."""
WITHHELD_S: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""Pauses while older writers are open and so withhold events; no notice tells when they end."""
BUSY_S: Final = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05)
"""Pauses between reads while each finds something."""
EMPTY_MAX: Final = 2
"""In a busy time the loop sleeps only after this many empty reads: to sleep and be woken costs two
commits.
"""
STREAMS_AT_ONCE: Final = 20
REST_S: Final = 0.002
"""So long each further stream lets all of them rest after a message: many get events together."""
REST_MAX_S: Final = 0.5
REST_OF_TENANT_MAX_S: Final = 10.0
"""Those of a tenant that has very many rest longer: they cost others no more than fewer do."""
PAGES_PER_S: Final = 10
"""So often browsers read pages again while all of them show something that changes."""
PAGE_REST_MIN_S: Final = 0.25
"""A page is not read again sooner."""
PAGE_REST_MAX_S: Final = 2.0
"""So that a page hears soon when most of the others are closed."""
SHORT_SLEEP_S: Final = 0.1
"""After a shorter sleep the time counts as still busy."""
NOW_S: Final = 60.0
"""How often feeds without events of their own take the newest position while others are busy."""
REGISTER_AGAIN_S: Final = 6 * 3600.0
"""How often a sleeping loop registers again: listeners are forgotten after a day."""


class Remembered(NamedTuple):
    """One event, ready to be sent."""

    position: Position
    kind: str
    at: datetime
    batch_id: int
    jobs: Sequence[int]
    groups: Sequence[int]
    message: bytes

    @property
    def n_bytes(self) -> int:
        """Return how much memory it takes, about: it has up to hundreds of numbers of jobs."""
        return len(self.message) + NUMBER_BYTES * (len(self.jobs) + len(self.groups))


EncodeEvent = Callable[[Row], bytes]
"""Turns an event of the store into the bytes that streams send."""


def remembered(row: Row, encode: EncodeEvent) -> Remembered:
    """Return an event of the store with its encoded message."""
    position = (row["xid"], row["event_id"])
    return Remembered(
        position, row["kind"], row["at"], row["batch_id"], row["jobs"], row["groups"], encode(row)
    )


class Feed:
    """The events of one user, as they come."""

    def __init__(self, store: ApiStore, caller: Caller, encode: EncodeEvent) -> None:
        self._store = store
        self._caller = replace(caller, in_turn=False)  # one reader serves all feeds
        self._encode = encode
        self._memory: deque[Remembered] = deque()
        self._memory_bytes = 0
        self._changed: WeakValueDictionary[int | None, asyncio.Event] = WeakValueDictionary()
        """What those wait for to whom a batch matters, or all of them (None)."""
        self._known_from: Position | None = None
        self.position: Position | None = None
        """Everything up to here has been read; None: the database has not answered yet."""
        self.found_some = True
        """Whether the last read found any; else the next one would look through the same again."""
        self.n_streams = 0
        self.failures = 0
        """How often a read has failed since the last one that did not."""
        self.rests_until = 0.0

    def reaches(self, position: Position) -> bool:
        """Say whether everything after this position is remembered."""
        return self._known_from is not None and self._known_from <= position

    def since(self, position: Position) -> list[Remembered]:
        """Return what is remembered after this position, in order."""
        # From the newest on: streams ask for little of a long memory, many times a second.
        new = list(
            itertools.takewhile(lambda one: one.position > position, reversed(self._memory))
        )
        return new[::-1]

    def next_changes(self, batch_id: int | None = None) -> "Changes":
        """Return what happens from now on, to a batch or to all."""
        changed = self._changed.setdefault(batch_id, asyncio.Event())
        return Changes(self, self.position, changed)

    async def changed(self, timeout_s: float, batch_id: int | None = None) -> bool:
        """Wait until something of a batch, or of all, is read; return False after `timeout_s`."""
        return await self.next_changes(batch_id).happened(timeout_s)

    def tell(self, batches: Collection[int] | None = None) -> None:
        """Wake the streams, or only those to whom one of these batches or all of them matter."""
        for batch_id in list(self._changed) if batches is None else (None, *batches):
            if (changed := self._changed.pop(batch_id, None)) is not None:
                changed.set()

    async def read(self, now: Position | None) -> bool:
        """Read new events; say whether there were any. `now`: the newest, at first."""
        if self.position is None:
            assert now is not None
            self._known_from = self.position = now
            self.tell()
        found = False
        while True:
            rows, position = await self._store.list_events(
                self._caller, after=self.position, batch_id=None, limit=READ_ROWS
            )
            # All or none: what fails here is read again.
            new = [remembered(row, self._encode) for row in rows]
            self.position = position
            for one in new:
                self._remember(one)
            if rows:
                found = True
                self.tell({row["batch_id"] for row in rows})
            if len(rows) < READ_ROWS:
                # A feed that stays at its own last event would find it removed one day.
                self.position = max(self.position, now or self.position)
                self.found_some = found
                return found

    def _remember(self, event: Remembered) -> None:
        self._memory.append(event)
        self._memory_bytes += event.n_bytes
        while self._memory_bytes > MEMORY_BYTES_MAX and len(self._memory) > 1:
            oldest = self._memory.popleft()
            self._memory_bytes -= oldest.n_bytes
            self._known_from = oldest.position


@dataclass(frozen=True)
class Changes:
    """What happens after a moment."""

    feed: Feed
    after: Position | None
    _changed: asyncio.Event

    async def happened(self, timeout_s: float | None) -> bool:
        """Wait until something happens; False after `timeout_s` without any."""
        return await wait_at_most(timeout_s, self._changed)

    def names(self, batch_id: int, job_id: int) -> bool:
        """Say whether an event since then may name this job."""
        if self.after is None or not self.feed.reaches(self.after):
            return True
        return any(
            one.batch_id == batch_id and job_id in one.jobs for one in self.feed.since(self.after)
        )


class Feeds:
    """The feeds of all users who have streams."""

    def __init__(self, store: ApiStore, notices: Notices, encode: EncodeEvent) -> None:
        self.encode = encode
        self._store = store
        self._notices = notices
        self._feeds: dict[tuple[int, int, bool], Feed] = {}
        self._woken = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._asked_now_at = -NOW_S
        self._ending: asyncio.Task[None] | None = None
        self._n_streams = 0
        self._n_of_tenant: Counter[int] = Counter()
        """How many streams each has, without those of pages."""
        self._catch_ups: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
        self.n_pages = 0
        """How many pages are told when to read themselves again."""

    @contextlib.asynccontextmanager
    async def open(self, caller: Caller, *, of_page: bool = False) -> AsyncIterator[Feed]:
        """Hold the feed of a user for one stream; `of_page`: a page is told by it when to read
        itself again.
        """
        async with self._held(caller) as feed:
            self._n_streams += 1
            self.n_pages += of_page
            self._n_of_tenant[caller.tenant_id] += not of_page
            try:
                yield feed
            finally:
                self._n_streams -= 1
                self.n_pages -= of_page
                self._n_of_tenant -= Counter({caller.tenant_id: not of_page})  # keeps no zero

    def rest_s(self, tenant_id: int, *, of_page: bool = False) -> float:
        """Return how long a stream rests after a message: nothing while there are few, unless it
        is that of a page. So the cost of messages does not grow with the number of streams.
        """
        if of_page:
            return min(PAGE_REST_MAX_S, max(PAGE_REST_MIN_S, self.n_pages / PAGES_PER_S))
        of_all = min(REST_MAX_S, _rest_among(self._n_streams - self.n_pages))
        of_tenant = min(REST_OF_TENANT_MAX_S, _rest_among(self._n_of_tenant[tenant_id]))
        return max(of_all, of_tenant)

    def catch_up(self, user_id: int) -> asyncio.Lock:
        """Return what one stream of a user at a time holds while it reads older events."""
        return self._catch_ups.setdefault(user_id, asyncio.Lock())

    @contextlib.asynccontextmanager
    async def _held(self, caller: Caller) -> AsyncIterator[Feed]:
        key = (caller.tenant_id, caller.user_id, caller.sees_tenant)
        feed = self._feeds.setdefault(key, Feed(self._store, caller, self.encode))
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
                # In a task: a stream whose client has gone is cancelled at every await.
                self._ending = asyncio.create_task(self._end(tasks), name="feeds.end")

    def tell_all(self) -> None:
        """Wake all streams, so that they notice that the server stops."""
        for feed in self._feeds.values():
            feed.tell()

    async def finish(self) -> None:
        """Wait until the last listener has ended; the streams have ended before."""
        if self._ending is not None:
            await asyncio.wait({self._ending})

    async def _listen(self) -> None:
        """Wake the reader at every notice, and when the listener is registered."""
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
        await self.finish()  # else it could unregister this one
        failures = busy = 0
        while True:
            try:
                busy = await self._read_until_quiet(busy)
                failures = 0
                asleep = time.monotonic()
                await wait_at_most(REGISTER_AGAIN_S, self._woken)
                if time.monotonic() - asleep > SHORT_SLEEP_S:
                    busy = 0
                await self._store.wait_for_events(waits=False)
            except Exception as error:
                # If this loop ended, the streams would wait for ever.
                if not isinstance(error, Unavailable):
                    log.exception("feed.failed")
                await _pause(AWAY_S, failures)
                failures += 1

    async def _read_until_quiet(self, busy: int) -> int:
        """Return when everything is read and the next event will send a notice.

        `busy`: the number of recent reads that found something; its new value is returned.
        """
        empty = withheld = 0
        while True:
            self._woken.clear()
            found = await self._read_all()
            empty = 0 if found else empty + 1
            if found or (busy >= len(BUSY_S) and empty <= EMPTY_MAX):
                # More comes soon, as a rule: to read now and then costs less than to sleep.
                await _pause(BUSY_S, busy)
                busy += found
                continue
            is_withheld = await self._store.wait_for_events()
            if not await self._read_all(before_sleep=True) and not is_withheld:
                return busy
            await _pause(WITHHELD_S, withheld)
            withheld += 1

    async def _read_all(self, *, before_sleep: bool = False) -> bool:
        feeds = list(self._feeds.values())  # a copy, because streams come and go meanwhile
        now = None
        if (
            before_sleep
            or any(feed.position is None for feed in feeds)
            or (len(feeds) > 1 and not all(feed.found_some for feed in feeds))
            or time.monotonic() - self._asked_now_at > NOW_S
        ):
            now = await self._store.events_now()
            self._asked_now_at = time.monotonic()
        found, n_read, n_away = False, 0, 0
        for feed in feeds:
            if time.monotonic() < feed.rests_until:
                continue
            try:
                found |= await feed.read(now)
            except Exception as error:
                # It may be this feed's alone: the others do not wait for it.
                self._let_rest(feed, error)
                n_away += isinstance(error, Unavailable)
                if n_away >= AWAY_FEEDS and not n_read:
                    raise
            else:
                feed.failures = 0
                n_read += 1
        return found

    def _let_rest(self, feed: Feed, error: Exception) -> None:
        """Read a feed that failed again after a pause, which grows."""
        if not isinstance(error, Unavailable):
            log.error("feed.failed", exc_info=error)
        rest_s = AWAY_S[min(feed.failures, len(AWAY_S) - 1)]
        feed.failures += 1
        feed.rests_until = time.monotonic() + rest_s
        asyncio.get_running_loop().call_later(rest_s, self._woken.set)

    async def _end(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        """Stop listening, and unregister."""
        await end_tasks(tasks)
        if not self._tasks:  # else a new stream waits
            with contextlib.suppress(Unavailable):
                await self._store.wait_for_events(waits=False)


def _rest_among(n_streams: int) -> float:
    return max(0, n_streams - STREAMS_AT_ONCE) * REST_S


async def _pause(steps_s: Sequence[float], attempts: int) -> None:
    await asyncio.sleep(steps_s[min(attempts, len(steps_s) - 1)])
