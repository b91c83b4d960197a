"""This program's own streams: the output of jobs byte by byte, and what cannot be written."""

import io
import os
import sys

from weft.core.errors import WeftError

STDOUT, STDERR = 1, 2


class OutputFailed(WeftError):
    """Standard output that cannot be written, such as a full disk."""

    code = "CLI.OUTPUT_FAILED"
    advice = "Make room or name another place; `weft logs` has the output of each job."


def open_streams() -> None:
    """Make standard output raise `OutputFailed`, and give closed streams a descriptor.

    Otherwise the next socket would be number 1, and get the output of jobs. What is written to a
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
    """Write all of it. Raise `BrokenPipeError` if the reader has gone."""
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


class _Stdout(io.FileIO):
    """Standard output without a buffer."""

    def write(self, data: bytes, /) -> int:  # type: ignore[override]  # what BufferedWriter gives
        write_all(self.fileno(), data)
        return len(data)


def _failed(error: OSError) -> OutputFailed:
    return OutputFailed("cannot write the output", detail=f"{error.strerror}.")


def _wait_writable(descriptor: int) -> None:
    """Wait until a stream that somebody made non-blocking takes more."""
    import select  # noqa: PLC0415

    select.select([], [descriptor], [])
