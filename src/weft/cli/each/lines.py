"""The lines of standard input or a file, read no faster than they are used."""

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from itertools import islice

from weft.core.errors import Invalid
from weft.core.input_lines import LineSplitter

STDIN = 0
READ_BYTES = 64 * 1024
CHUNKS_AHEAD = 2


class UnreadableInput(Invalid):
    """A file of lines that cannot be read."""

    code = "CLI.UNREADABLE_INPUT"


Item = tuple[int, bytes]
"""Number of the line, and the line."""


class LineReader:
    """Reads in a thread, because reading a file or a terminal blocks; holds at most a few
    chunks.
    """

    def __init__(self, file: str | None, separator: bytes | None = None) -> None:
        self._name = "standard input" if file is None or file == "-" else file
        self._descriptor = STDIN if file is None or file == "-" else _open(file)
        self._splitter = LineSplitter(separator)
        self._queue: asyncio.Queue[list[Item] | Exception | None] = asyncio.Queue(CHUNKS_AHEAD)
        self._waiting: list[Item] = []
        self._is_done = False

    def start(self) -> None:
        """Start reading."""
        loop = asyncio.get_running_loop()
        # A daemon: a read of a terminal or pipe cannot be interrupted, and must not hold up the
        # end.
        threading.Thread(target=self._read, args=(loop,), name="lines", daemon=True).start()

    async def take(self, count_max: int) -> Sequence[Item]:
        """Return the next items, at least one; an empty list at the end of the input."""
        while not self._waiting and not self._is_done:
            await self._refill()
        # Take everything that has been read, so that fast input travels in large pieces.
        while len(self._waiting) < count_max and not self._queue.empty():
            await self._refill()
        taken, self._waiting = self._waiting[:count_max], self._waiting[count_max:]
        return taken

    async def _refill(self) -> None:
        found = await self._queue.get()
        if isinstance(found, Exception):
            raise found
        if found is None:
            self._is_done = True
        else:
            self._waiting += found

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        def put(found: list[Item] | Exception | None) -> None:
            asyncio.run_coroutine_threadsafe(self._queue.put(found), loop).result()

        try:
            while data := os.read(self._descriptor, READ_BYTES):
                put(self._splitter.feed(data))
            put(self._splitter.finish())
            put(None)
        except (RuntimeError, CancelledError):
            return  # the loop has ended: no reader is left
        except (OSError, Invalid) as error:
            put(_unreadable(error, self._name) if isinstance(error, OSError) else error)


class GivenItems:
    """Items of the command line instead of lines: the values after `:::`."""

    def __init__(self, items: Iterator[bytes]) -> None:
        self._items = enumerate(items, 1)

    def start(self) -> None:
        """Do nothing: there is nothing to read."""

    async def take(self, count_max: int) -> Sequence[Item]:
        """Return the next items; an empty list at the end."""
        return list(islice(self._items, count_max))


def _open(file: str) -> int:
    try:
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable(error, file) from error


def _unreadable(error: OSError, name: str) -> UnreadableInput:
    return UnreadableInput(
        f"cannot read {name}",
        detail=f"{error.strerror}.",
        hint="Name a readable file, or pass the lines on standard input.",
    )
