"""The lines of standard input or a file, read no faster than they are used."""

import asyncio
import os
import threading
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from concurrent.futures import CancelledError
from itertools import islice

from weft.cli.input.stdin_text import STDIN, read_waiting
from weft.cli.terminal.report import note
from weft.core.errors import Invalid
from weft_each.rules.input_lines import LineSplitter
from weft_each.rules.input_words import WordSplitter

CHUNKS_AHEAD = 2


class UnreadableInput(Invalid, code="CLI.UNREADABLE_INPUT"):
    """A file of lines that cannot be read."""


Item = tuple[int, bytes]
"""Number of the line, and the line."""


class LineReader:
    """Reads in a thread, because reading a file or terminal blocks; holds at most a few chunks."""

    def __init__(
        self, file: str | None, splitter: LineSplitter | WordSplitter, end: bytes | None = None
    ) -> None:
        """`end`: the item before which the input ends."""
        self._name = "standard input" if file is None or file == "-" else file
        self._descriptor = STDIN if file is None or file == "-" else _open(file)
        self._splitter = splitter
        self._end = end
        self._queue: asyncio.Queue[list[Item] | Exception | None] = asyncio.Queue(CHUNKS_AHEAD)
        self._waiting: list[Item] = []
        self._is_done = False

    @property
    def wrong(self) -> str | None:
        """Why the input ends early."""
        return self._splitter.wrong

    def start(self) -> None:
        """Start reading; tell somebody who would wait for us that we wait for lines."""
        if os.isatty(self._descriptor):
            note("reading lines from the terminal; end with Ctrl-D")
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
            putting = self._queue.put(found)
            try:
                asyncio.run_coroutine_threadsafe(putting, loop).result()
            except RuntimeError:  # the loop is closed, and the coroutine never ran
                putting.close()
                raise

        try:
            is_over = False
            mark = BOM_UTF8  # of Windows programs, before the first line
            while not is_over and (data := read_waiting(self._descriptor)):
                found, is_over = self._before_end(self._splitter.feed(data.removeprefix(mark)))
                put(found)
                mark = b""
            if not is_over:
                put(self._before_end(self._splitter.finish())[0])
            put(None)
        except (RuntimeError, CancelledError):
            return  # the loop has ended: no reader is left
        except (OSError, Invalid) as error:
            put(_unreadable(error, self._name) if isinstance(error, OSError) else error)

    def _before_end(self, found: list[Item]) -> tuple[list[Item], bool]:
        """Return the items that count, and whether no more follow."""
        for n, (_, item) in enumerate(found):
            if item == self._end:
                return found[:n], True
        return found, self.wrong is not None


class GivenItems:
    """Items that are there already: the values after `:::`, or an input that was read."""

    def __init__(self, items: Iterable[Item], wrong: str | None = None) -> None:
        self._items = iter(items)
        self.wrong = wrong
        """Why these are not all."""

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
