"""Our own streams: write the output of jobs byte by byte, and report failed writes."""

import io
import os
import sys
from collections.abc import AsyncIterable, Callable

from weft.core.errors import WeftError

STDOUT, STDERR = 1, 2
LINE_BYTES_MAX = 1024 * 1024
"""A longer line is broken, so that it need not be kept until it ends."""


class OutputFailed(WeftError):
    """Standard output cannot be written, for example because the disk is full."""

    code = "CLI.OUTPUT_FAILED"
    advice = "Free some space or redirect the output; `weft logs` prints the output of each job."


def open_streams() -> None:
    """Make standard output raise `OutputFailed`, and give closed streams a descriptor.

    Otherwise the next socket would be number 1 and get the output of jobs. Writing to a
    closed standard output fails; a closed standard input is empty.
    """
    for descriptor, flags in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)
    given = sys.stdout
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_Stdout(STDOUT, "w", closefd=False)),
        encoding=given.encoding if given else None,
        errors=given.errors if given else None,
        line_buffering=os.isatty(STDOUT),
    )
    # To a missing sys.stderr `print` writes on standard output.
    sys.stderr = sys.stderr or open(STDERR, "w", closefd=False)  # noqa: SIM115


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
            raise _failed(error) from error


async def write_prefixed(
    descriptor: int,
    prefix: bytes,
    chunks: AsyncIterable[bytes],
    write: Callable[[int, bytes], None] = write_all,
) -> int:
    """Write each line behind the prefix, the last one with a line break; return their bytes."""
    n_bytes, rest = 0, b""
    async for chunk in chunks:
        n_bytes += len(chunk)
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > LINE_BYTES_MAX:
            lines, rest = [*lines, rest], b""
        write(descriptor, b"".join(prefix + line + b"\n" for line in lines))
    if rest:
        write(descriptor, prefix + rest + b"\n")
    return n_bytes


class _Stdout(io.FileIO):
    """Standard output without a buffer."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # what BufferedWriter gives
        write_all(self.fileno(), data)
        return len(data)


def _failed(error: OSError) -> OutputFailed:
    return OutputFailed("cannot write the output", detail=f"{error.strerror}.")


def _wait_writable(descriptor: int) -> None:
    """Wait until a non-blocking stream accepts more."""
    import select  # noqa: PLC0415

    select.select([], [descriptor], [])
