"""Starts of processes: each returns only when its program has begun.

While cores are free, that is quick, and a thread would only cost wake-ups. If a new process has to
wait for a core, so does the caller: then threads do the waiting, and the loop continues.
"""

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from weft.worker.spawner.loop import EventLoop
from weft.worker.spawner.posix_spawn import own_umask

_QUICK_NS = 3_000_000
"""A time slice of the kernel. The change of threads costs more than shorter waits."""
_LONGEST_NS = 5_000_000
_LATELY = 16
Result = TypeVar("Result")
Work = Callable[[], Result]
OnEnd = Callable[[Result | Exception], None]


class Starter(Generic[Result]):
    """Start in the loop's thread as long as that is quick, else in other threads."""

    def __init__(self, loop: EventLoop, *, threads: int) -> None:
        self._work: SimpleQueue[tuple[Work[Result], OnEnd[Result]]] = SimpleQueue()
        self._done: SimpleQueue[tuple[OnEnd[Result], Result | Exception, int]] = SimpleQueue()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._takes_ns = 0
        """The recent average duration of a start."""
        self.count = 0
        """The number of starts under way in threads."""
        self._shares_umask = not own_umask()
        loop.watch(self._wake, self._on_wake)
        for _ in range(threads):
            threading.Thread(target=self._serve, daemon=True).start()

    def begin(
        self, work: Work[Result], on_end: OnEnd[Result], *, sets_umask: bool = False
    ) -> None:
        """Do the work and call back on the loop's thread with its result or exception: at once, or
        after another thread has done it. `sets_umask`: the work changes the file mode mask, which
        no start beside it may see.
        """
        is_alone = sets_umask and self._shares_umask
        if is_alone:
            self.finish()
        if self._takes_ns > _QUICK_NS and not is_alone:
            self.count += 1
            self._work.put((work, on_end))
        else:
            result, took_ns = _timed(work)
            self._note(took_ns)
            on_end(result)

    def finish(self) -> None:
        """Wait until nothing is under way, and make all callbacks."""
        while self.count:
            self._take_done()

    def _serve(self) -> None:
        own_umask()
        while True:
            work, on_end = self._work.get()
            self._done.put((on_end, *_timed(work)))
            os.eventfd_write(self._wake, 1)

    def _on_wake(self) -> None:
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            return
        while not self._done.empty():
            self._take_done()

    def _take_done(self) -> None:
        on_end, result, took_ns = self._done.get()
        self.count -= 1
        self._note(took_ns)
        on_end(result)

    def _note(self, took_ns: int) -> None:
        self._takes_ns += (min(took_ns, _LONGEST_NS) - self._takes_ns) // _LATELY


def _timed(work: Work[Result]) -> tuple[Result | Exception, int]:
    """Return the result or exception of the work, and its duration."""
    begun_ns = time.monotonic_ns()
    result: Result | Exception
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 (passed to the caller)
        result = error
    return result, time.monotonic_ns() - begun_ns
