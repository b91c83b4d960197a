"""Our own streams: write output of jobs byte by byte; report failed writes and what was cut;
notice that the reader of our output is gone before we write again.
"""

import io
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from weft.cli.terminal.report import note
from weft.core.errors import WeftError
from weft.core.ids import format_job_ref
from weft.core.text.amounts import size

STDOUT, STDERR = 1, 2


class OutputFailed(WeftError, code="CLI.OUTPUT_FAILED"):
    """Standard output cannot be written, for example because the disk is full."""

    advice = "Free some space or redirect the output; `weft logs` prints the output of each job."


def open_streams() -> None:
    """Make standard output raise `OutputFailed`, and give closed streams a descriptor.

    Otherwise the next socket would be number 1 and get the output of jobs. Writing to a
    closed standard output fails; a closed standard input is empty.
    A terminal that has no UTF-8 shows `?` for what it lacks; programs and files get UTF-8.
    """
    for descriptor, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)
    given, is_terminal = sys.stdout, os.isatty(STDOUT)
    encoding = given.encoding if given and is_terminal else "utf-8"
    is_limited = encoding.lower().replace("_", "-") != "utf-8"
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Stdout(STDOUT, "w", closefd=False)),
        encoding=encoding,
        errors="replace" if is_limited else given.errors if given else None,
        line_buffering=is_terminal,
    )
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Stderr(STDERR, "w", closefd=False)),
        encoding=sys.stderr.encoding if sys.stderr else None,
        errors="backslashreplace",
        write_through=True,
        line_buffering=True,
    )


def write_all(descriptor: int, data: bytes) -> None:
    """Write all the data. Raise `BrokenPipeError` if the reader is gone."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            _wait_writable(descriptor)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise OutputFailed("cannot write the output", detail=f"{error.strerror}.") from error


def write_note(data: bytes) -> None:
    """Write on standard error. What comes after it is done, also when its terminal is gone."""
    with suppress(OSError, OutputFailed):
        write_all(STDERR, data)


class _Stdout(io.FileIO):
    """Standard output without a buffer."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # what BufferedWriter gives
        write_all(self.fileno(), data)
        return len(data)


class _Stderr(io.FileIO):
    """Standard error without a buffer."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # as above
        write_note(data)
        return len(data)


def _wait_writable(descriptor: int) -> None:
    """Wait until a non-blocking stream accepts more."""
    import select  # noqa: PLC0415

    select.select([], [descriptor], [])


LIMIT = "the setting `stream_bytes_max` of workers says how much of each stream is kept"


def say_left_out(n_bytes: int, stream: str, batch_id: int, job_id: int) -> None:
    """Say how much of a stream is missing at this place."""
    note(f"{format_job_ref(batch_id, job_id)}: {size(n_bytes)} of {stream} were left out")


def once(say: Callable[[], None]) -> Callable[[], None]:
    """Return a function of which only the first call says something."""
    left = [say]

    def call() -> None:
        while left:
            left.pop()()

    return call


def say_cut(batch_id: int, job_id: int) -> None:
    """Say that the middle of an output that was printed whole is missing."""
    note(f"{format_job_ref(batch_id, job_id)}: the middle of its output was left out; {LIMIT}")


@contextmanager
def watch_closed(descriptor: int, on_closed: Callable[[], None]) -> Iterator[None]:
    """Call `on_closed` once when the reader of this pipe is gone. Only pipes are watched."""
    from weft.client.http.blocking import asyncio  # noqa: PLC0415 (heavy)

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
    from weft.client.http.blocking import asyncio  # noqa: PLC0415 (heavy)

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
