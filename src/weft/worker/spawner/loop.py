"""One epoll loop: file descriptors, timers, and nothing else."""

import heapq
import select
import time
from collections.abc import Callable
from typing import Final

NS: Final = 1_000_000_000
Callback = Callable[[], None]
_TIMERS_KEPT = 256
_LONGEST_S: Final = 86_400.0
"""The kernel waits 24 days at most; time limits may be longer. It is waited again then."""


class LoopTimer:
    """A callback that is due once."""

    __slots__ = ("callback", "due_ns", "number")

    def __init__(self, due_ns: int, number: int, callback: Callback) -> None:
        self.due_ns = due_ns
        self.number = number
        self.callback: Callback | None = callback

    def __lt__(self, other: "LoopTimer") -> bool:
        """Order by time, then by age."""
        return (self.due_ns, self.number) < (other.due_ns, other.number)


class EventLoop:
    """Call back when a file descriptor is ready or a timer is due."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._callbacks: dict[int, Callback] = {}
        self._timers: list[LoopTimer] = []
        self._timer_count = 0
        self._cancelled_count = 0

    def watch(self, fd: int, callback: Callback) -> None:
        """Call back whenever `fd` is readable or closed by the other side.

        The callback must tolerate spurious calls.
        """
        self._epoll.register(fd, select.EPOLLIN)
        self._callbacks[fd] = callback

    def watch_writes(self, fd: int, *, wanted: bool) -> None:
        """Also call back when `fd`, which must be watched already, can be written."""
        self._epoll.modify(fd, select.EPOLLIN | (select.EPOLLOUT if wanted else 0))

    def forget(self, fd: int) -> None:
        """Stop watching. Call this before closing: a child that is about to exec may still hold a
        copy of the descriptor, and then closing alone would leave it in the epoll set.
        """
        self._epoll.unregister(fd)
        del self._callbacks[fd]

    def at(self, due_ns: int, callback: Callback) -> LoopTimer:
        """Call back once at a time of `CLOCK_MONOTONIC`."""
        self._timer_count += 1
        timer = LoopTimer(due_ns, self._timer_count, callback)
        heapq.heappush(self._timers, timer)
        return timer

    def cancel(self, timer: LoopTimer) -> None:
        """Do not call back. The long time limits of short jobs must not pile up, so cancelled
        timers are removed now and then.
        """
        if timer.callback is None:
            return
        timer.callback = None
        self._cancelled_count += 1
        if self._cancelled_count > _TIMERS_KEPT + len(self._timers) // 2:
            self._timers = [one for one in self._timers if one.callback is not None]
            heapq.heapify(self._timers)
            self._cancelled_count = 0

    def turn(self, due_ns: int | None) -> None:
        """Wait until something is ready or due, or until `due_ns`, and make all callbacks."""
        for fd, _ in self._epoll.poll(self._timeout_s(due_ns)):
            callback = self._callbacks.get(fd)
            if callback is not None:
                callback()
        if self._timers:
            now_ns = time.monotonic_ns()
            while self._timers and self._timers[0].due_ns <= now_ns:
                timer = heapq.heappop(self._timers)
                callback, timer.callback = timer.callback, None
                if callback is not None:
                    callback()
                else:
                    self._cancelled_count -= 1

    def _timeout_s(self, due_ns: int | None) -> float | None:
        if self._timers and (due_ns is None or self._timers[0].due_ns < due_ns):
            due_ns = self._timers[0].due_ns
        if due_ns is None:
            return None
        return min(max(0.0, (due_ns - time.monotonic_ns()) / NS), _LONGEST_S)
