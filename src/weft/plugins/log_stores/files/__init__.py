"""The log store `files`: output that the runners of this host have written.

It reads in threads and never polls. It must not know the writer, or its purpose.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from weft.plugins.log_stores.files.growth import Watches
from weft.plugins.log_stores.files.parts import PartReader, own_parts
from weft.plugins.log_stores.files.reader import FileReader
from weft.plugins.log_stores.files.results import BLOCK_BYTES
from weft.ports.log_store import AttemptLog, Extent, LogDirectory
from weft.wire.log_format import Piece
from weft.wire.usage_format import UsageSample

_BATCH_BYTES = 256 * 1024
_RESULTS_BYTES = 1 << 20
_Found = tuple[AttemptLog, bytes, Iterator[bytes] | None]


class FileLogStore:
    """Read the segments and attempt files below one directory; see the port for the methods."""

    def __init__(self, root: Path) -> None:
        self._reader = FileReader(root)
        self._watches = Watches()

    def can_read(self, directory: LogDirectory) -> bool:
        """Look for the name of the directory in the home."""
        return self._reader.directories.find(directory) is not None

    def why_gone(self, log: AttemptLog) -> str | None:
        return self._reader.why_gone(log)

    async def pieces(self, log: AttemptLog, after: int) -> AsyncIterator[Sequence[Piece]]:
        pieces = self._reader.pieces(log, after)
        while some := await asyncio.to_thread(_some_of, pieces):
            yield some

    async def read_all(self, logs: Sequence[AttemptLog]) -> Sequence[Sequence[Piece]]:
        return await asyncio.to_thread(lambda: [list(self._reader.pieces(log, 0)) for log in logs])

    async def size(self, log: AttemptLog, stream: int) -> int:
        return await asyncio.to_thread(self._reader.size, log, stream)

    async def read(self, log: AttemptLog, stream: int, start: int, stop: int) -> bytes:
        return await asyncio.to_thread(self._reader.read, log, stream, start, stop)

    async def extent(self, log: AttemptLog) -> Extent:
        return await asyncio.to_thread(self._reader.extent, log)

    async def window(
        self, log: AttemptLog, stream: int | None, start: int, stop: int
    ) -> Sequence[Piece]:
        return await asyncio.to_thread(lambda: list(self._reader.window(log, stream, start, stop)))

    async def follow(self, log: AttemptLog, after: int) -> AsyncIterator[Sequence[Piece]]:
        own = self._reader.own(log)
        reader = PartReader(own, after)
        reading: asyncio.Future[list[Piece]] | None = None
        try:
            with self._watches.following(own) as grown:
                while True:
                    grown.begin()
                    found: list[Piece] = []
                    if own_parts(own):
                        reading = asyncio.ensure_future(
                            asyncio.to_thread(lambda: _some_of(reader.read()))
                        )
                        found = await asyncio.shield(reading)
                    if found:
                        yield found
                    else:
                        await grown.changed()
        finally:
            _close_after(reading, reader)

    async def samples(self, log: AttemptLog) -> Sequence[UsageSample]:
        return await asyncio.to_thread(self._reader.samples, log)

    async def results(
        self, logs: Iterable[AttemptLog]
    ) -> AsyncIterator[tuple[AttemptLog, AsyncIterator[bytes]]]:
        """Yield results; short ones are read many at a time."""
        found = self._reader.results(logs)
        while some := await asyncio.to_thread(_first_blocks, found):
            for log, first, rest in some:
                yield log, _Blocks(first, rest)


def _close_after(reading: asyncio.Future[list[Piece]] | None, reader: PartReader) -> None:
    """Close the file, unless an abandoned thread still reads and would reopen it."""

    def close(done: asyncio.Future[list[Piece]]) -> None:
        if not done.cancelled():
            done.exception()
        reader.close()

    if reading is None or reading.done():
        reader.close()
    else:
        reading.add_done_callback(close)


def _some_of(pieces: Iterator[Piece]) -> list[Piece]:
    """Read what exists, up to about the size of one message."""
    found: list[Piece] = []
    size = 0
    for piece in pieces:
        found.append(piece)
        size += len(piece.data)
        if size >= _BATCH_BYTES:
            break
    return found


def _first_blocks(results: Iterator[tuple[AttemptLog, Iterator[bytes]]]) -> list[_Found]:
    """Read the first blocks of some results; only the last of these may have more blocks."""
    found: list[_Found] = []
    size = 0
    for log, blocks in results:
        first = next(blocks, b"")
        size += len(first)
        is_long = len(first) >= BLOCK_BYTES
        found.append((log, first, blocks if is_long else None))
        if is_long or size >= _RESULTS_BYTES:
            break
    return found


class _Blocks:
    """The blocks of one result.

    This is no generator: thousands of them are dropped after their first block, and the event loop
    would close each such generator in a task of its own.
    """

    __slots__ = ("_first", "_rest")

    def __init__(self, first: bytes, rest: Iterator[bytes] | None) -> None:
        self._first = first
        self._rest = rest

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        block, self._first = self._first, b""
        if not block and self._rest is not None:
            block = await asyncio.to_thread(next, self._rest, b"")
        if not block:
            raise StopAsyncIteration
        return block
