"""The output of jobs, byte by byte, on this program's own streams."""

import os

STDOUT, STDERR = 1, 2


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it. Raise `BrokenPipeError` if the reader has gone."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            _wait_writable(descriptor)


def _wait_writable(descriptor: int) -> None:
    """Wait until a stream that somebody made non-blocking takes more."""
    import select  # noqa: PLC0415

    select.select([], [descriptor], [])
