"""One `map` of an executor: cut into jobs, their values yielded in order."""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, Final

from weft.client.api import ResultRow
from weft.client.functions.calls import Call, Calls
from weft.client.functions.futures import Link, WeftFuture
from weft.client.functions.pickles import Function, pickle_each
from weft.client.loop_thread import waits_for_itself

CHUNK_BYTES: Final = 256 << 10
CUT_AT_ONCE: Final = 500

Values = tuple[list[Any], BaseException | None]
"""What the calls of a chunk returned, and what the one after them raised."""
Chunk = WeftFuture[Values]


class MapRun:
    """One map. `start` and what it calls run in the event loop, `values` in the caller."""

    def __init__(
        self,
        calls: Calls,
        function: Function,
        items: Sequence[Sequence[Any]],
        *,
        chunksize: int | None,
        read: Callable[[ResultRow], Values],
        link: Link,
    ) -> None:
        self._calls = calls
        self._function = function
        self._items = items
        self._chunksize = chunksize
        self._read = read
        self._link = link
        self._next = 0
        self._out: set[Chunk] = set()
        self._sizes: ChunkSizes | None = None
        self._is_over = False
        self._chunks: deque[Chunk] = deque()
        self._changed = threading.Condition()

    def values(self, timeout: float | None) -> Iterator[Any]:
        """Yield what the calls return, in order; what one raises is raised, and ends the rest."""
        until = None if timeout is None else time.monotonic() + timeout

        def left_s() -> float | None:
            return None if until is None else max(0.0, until - time.monotonic())

        try:
            while (chunk := self._next_chunk(left_s)) is not None:
                values, error = chunk.result(left_s())
                del chunk
                values.reverse()
                while values:
                    yield values.pop()
                if error is not None:
                    raise error
        finally:
            self._link.post(self._cancel)

    def _next_chunk(self, left_s: Callable[[], float | None]) -> Chunk | None:
        if self._link.is_here():
            raise waits_for_itself()
        with self._changed:
            if not self._changed.wait_for(lambda: self._chunks or self._is_over, left_s()):
                raise TimeoutError
            return self._chunks.popleft() if self._chunks else None

    # ---- in the event loop

    async def start(self) -> None:
        """Start sending jobs."""
        try:
            if self._chunksize is None:
                self._sizes = ChunkSizes(slots=await self._calls.slots())
                self._cut()
                return
            while self._next < len(self._items):
                self._send([self._take(self._chunksize) for _ in range(CUT_AT_ONCE)])
                await asyncio.sleep(0)
            self._end_if_all_is_cut()
        except Exception as error:  # noqa: BLE001 (whatever it is, the caller has to know)
            failed = Chunk(self._read, self._link)
            failed.set_exception(error)
            self._add([failed])
            self._cancel()

    def _cut(self) -> None:
        """Send as many jobs as may be in flight now."""
        assert self._sizes is not None
        chunks: list[Sequence[Any]] = []
        left = len(self._items) - self._next
        while left and len(self._out) + len(chunks) < self._sizes.jobs_out_max:
            chunks.append(self._take(self._sizes.next_size(left)))
            left = len(self._items) - self._next
        self._send(chunks)
        self._end_if_all_is_cut()

    def _take(self, size: int) -> Sequence[Any]:
        items = self._items[self._next : self._next + size]
        self._next += len(items)
        return items

    def _send(self, chunks: Sequence[Sequence[Any]]) -> None:
        calls: list[Call] = []
        futures: list[Chunk] = []
        for chunk in chunks:
            for items, arguments in _pickled(chunk):
                call, future = self._call(arguments, len(items))
                calls.append(call)
                futures.append(future)
        self._add(futures)
        self._calls.accept(calls)

    def _call(self, arguments: bytes, count: int) -> tuple[Call, Chunk]:
        future = Chunk(self._read, self._link)
        call = future.call_for(self._function, arguments, calls=count, each=True)
        end, fail = call.on_end, call.on_failure

        def on_end(row: ResultRow) -> None:
            self._out.discard(future)
            end(row)
            if self._sizes is not None and row.seconds is not None:
                self._sizes.measured(seconds=row.seconds, calls=count)
                self._cut()

        def on_failure(error: BaseException) -> None:
            self._out.discard(future)
            fail(error)

        call.on_end, call.on_failure = on_end, on_failure
        self._out.add(future)
        return call, future

    def _add(self, futures: Sequence[Chunk]) -> None:
        with self._changed:
            self._chunks.extend(futures)
            self._changed.notify_all()

    def _end_if_all_is_cut(self) -> None:
        if self._next >= len(self._items):
            self._calls.leave(self)
            with self._changed:
                self._is_over = True
                self._changed.notify_all()

    def _cancel(self) -> None:
        """Stop: the caller wants no more values."""
        self._next = len(self._items)
        self._end_if_all_is_cut()
        for future in list(self._out):
            future.cancel()


def _pickled(items: Sequence[Any]) -> Iterator[tuple[Sequence[Any], bytes]]:
    """Yield the arguments of a chunk, cut in halves as long as they are too long together."""
    if not items:
        return
    arguments = pickle_each(items)
    if len(arguments) <= CHUNK_BYTES or len(items) == 1:
        yield items, arguments
        return
    half = len(items) // 2
    yield from _pickled(items[:half])
    yield from _pickled(items[half:])


TARGET_S: Final = 0.2
"""How long a job should last: the cost of a job is a hundredth of it."""
CALLS_MAX: Final = 10_000
SHARES: Final = 4
"""Number of pieces in which each worker gets its share of the rest, so that all end together."""
SLOTS_AHEAD: Final = 8
"""How many jobs for each slot are out at a time: what is not yet cut can still be cut better."""
_MEASURES_KEPT: Final = 63
_SHORTEST_S: Final = 1e-7


class ChunkSizes:
    """Sizes of the chunks of one map; `slots`: how many jobs can run side by side."""

    def __init__(self, *, slots: int) -> None:
        self.slots = max(1, slots)
        self._seconds: deque[float] = deque(maxlen=_MEASURES_KEPT)

    def measured(self, *, seconds: float, calls: int) -> None:
        """Take into account how long the calls of a chunk lasted together.

        The middle of all counts: the first calls of a process may import a lot.
        """
        self._seconds.append(seconds / max(1, calls))

    @property
    def jobs_out_max(self) -> int:
        """Return how many jobs may be out: few until it is known how long a call lasts."""
        return self.slots * (SLOTS_AHEAD if self._seconds else 2)

    def next_size(self, calls_left: int) -> int:
        """Return how many of the calls that are left the next job makes, at least 1."""
        if not self._seconds:
            return 1
        by_time = TARGET_S / max(median(self._seconds), _SHORTEST_S)
        by_share = math.ceil(calls_left / (SHARES * self.slots))
        return max(1, int(min(by_time, by_share, CALLS_MAX)))
