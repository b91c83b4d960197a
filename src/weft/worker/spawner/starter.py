"""Threads that do what blocks: a process's start returns only when its program has begun."""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

from weft.worker.spawner.loop import Loop

Result = TypeVar("Result")
Work = Callable[[], Result]
OnEnd = Callable[[Result | Exception], None]


class Starter(Generic[Result]):
    """Work for threads; the loop is told of each end, on its own thread."""

    def __init__(self, loop: Loop, *, threads: int) -> None:
        self._work: SimpleQueue[tuple[Work[Result], OnEnd[Result]]] = SimpleQueue()
        self._done: SimpleQueue[tuple[OnEnd[Result], Result | Exception]] = SimpleQueue()
        self._wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.count = 0
        """So much is under way."""
        loop.watch(self._wake, self._on_wake)
        for _ in range(threads):
            threading.Thread(target=self._serve, daemon=True).start()

    def begin(self, work: Work[Result], on_end: OnEnd[Result]) -> None:
        """Do it in a thread; then call back with what it returned or raised."""
        self.count += 1
        self._work.put((work, on_end))

    def finish(self) -> None:
        """Wait until nothing is under way, and call back for all of it."""
        while self.count:
            self._tell(*self._done.get())

    def _serve(self) -> None:
        while True:
            work, on_end = self._work.get()
            result: Result | Exception
            try:
                result = work()
            except Exception as error:  # noqa: BLE001 (told to the loop)
                result = error
            self._done.put((on_end, result))
            os.eventfd_write(self._wake, 1)

    def _on_wake(self) -> None:
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            return
        while not self._done.empty():
            self._tell(*self._done.get())

    def _tell(self, on_end: OnEnd[Result], result: Result | Exception) -> None:
        self.count -= 1
        on_end(result)
