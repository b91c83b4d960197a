"""Notice that the reader of our output is gone before we write again."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft.client.http.blocking import asyncio


@contextmanager
def watch_closed(descriptor: int, on_closed: Callable[[], None]) -> Iterator[None]:
    """Call `on_closed` once when the reader of this pipe is gone. Only pipes are watched."""
    loop = asyncio.get_running_loop()

    def closed() -> None:
        loop.remove_reader(descriptor)
        on_closed()

    if not _is_pipe(descriptor):
        yield
        return
    # The writing end of a pipe is never readable: epoll reports it only for the error of a lost
    # reader.
    loop.add_reader(descriptor, closed)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)


@contextmanager
def ending_when_closed(descriptor: int) -> Iterator[None]:
    """End this task with `BrokenPipeError` when the reader of this pipe is gone, also while there
    is nothing to write.
    """
    task, is_closed = asyncio.current_task(), asyncio.Event()

    def end() -> None:
        is_closed.set()
        if task is not None:
            task.cancel()

    try:
        with watch_closed(descriptor, end):
            yield
    except asyncio.CancelledError:
        if is_closed.is_set():
            raise BrokenPipeError from None
        raise


def _is_pipe(descriptor: int) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except OSError:
        return False
