"""Read a log like a book: the window at an offset, the one before it, and what is found in it. The
work of each call is bounded, whatever the size of the log.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from weft.api.use_cases.output import STREAMS
from weft.core.ends.failure_causes import is_like_error, may_have_error
from weft.ports.log_store import AttemptLog, Extent, LogStore
from weft.wire.log_format import CUT, Piece, cut_out

WINDOW_BYTES: Final = 64 * 1024
BLOCK_BYTES: Final = 1 << 20
SEARCH_BYTES: Final = 64 << 20
"""How much of a log one search for a text looks at."""
ERROR_BYTES: Final = 16 << 20
"""How much one search for an error looks at: its words take longer to recognise."""
HITS: Final = 20
EXCERPT_BYTES: Final = 300
_STEP_CHARS: Final = 32 * 1024
_NEWLINE: Final = b"\n"
_MOST_OF_A_CHARACTER: Final = 3


@dataclass(frozen=True)
class Window:
    """Bytes `start` to `stop` of one stream or of both, in whole lines if these are shorter."""

    start: int
    stop: int
    extent: Extent
    size: int
    pieces: Sequence[Piece]

    @property
    def is_last(self) -> bool:
        """Whether nothing follows yet."""
        return self.stop >= self.size


@dataclass(frozen=True)
class Hit:
    """A line in which something was found."""

    at: int
    """Where the line begins, or the part of it that is shown."""
    excerpt: bytes


@dataclass(frozen=True)
class Found:
    """What one search has found, and where the next one begins; None: it has seen all."""

    hits: Sequence[Hit]
    until: int | None


class LogWindows:
    """One stream of an attempt, or both."""

    def __init__(self, logs: LogStore, log: AttemptLog, stream: str) -> None:
        self._logs = logs
        self._log = log
        self._stream = STREAMS.get(stream)

    async def at(self, start: int) -> Window:
        """Return the window that begins at an offset."""
        extent = await self._logs.extent(self._log)
        size = extent.count(self._stream)
        start = min(start, size)
        pieces = await self._read(start, start + WINDOW_BYTES)
        data = _data(pieces)
        stop = start + len(data)
        if stop < size:
            stop = start + (data.rfind(_NEWLINE) + 1 or _whole_characters(data))
        kept = cut_out(pieces, start, None, start, stop)
        return Window(start, stop, extent, size, list(kept))

    async def before(self, stop: int | None) -> Window:
        """Return the window that ends at an offset; None: the last one."""
        extent = await self._logs.extent(self._log)
        size = extent.count(self._stream)
        stop = size if stop is None else min(stop, size)
        start = max(0, stop - WINDOW_BYTES)
        pieces = await self._read(start, stop)
        if start:
            data = _data(pieces)
            begin = data.find(_NEWLINE, 0, -1) + 1 or _first_character(data)
            pieces = list(cut_out(pieces, start, None, start + begin, stop))
            start += begin
        return Window(start, stop, extent, size, pieces)

    async def find(self, text: str, start: int) -> Found:
        """Find lines with a text, in either case, from an offset on."""
        needle = text.encode().lower()
        return await self._search(
            start, SEARCH_BYTES, len(needle) - 1, lambda block: _occurrences(block, needle)
        )

    async def find_error(self, start: int) -> Found:
        """Find the first line that looks like an error, from an offset on."""
        return await self._search(start, ERROR_BYTES, 0, _error_lines, most=1)

    async def _search(
        self,
        start: int,
        bytes_max: int,
        overlap: int,
        positions: Callable[[bytes], Iterator[int]],
        *,
        most: int = HITS,
    ) -> Found:
        size = (await self._logs.extent(self._log)).count(self._stream)
        hits: list[Hit] = []
        end = min(size, start + bytes_max)
        while start < end:
            data = _data(await self._read(start, min(size, start + BLOCK_BYTES)))
            if not data:
                break
            is_last = start + len(data) >= size or len(data) < BLOCK_BYTES
            # A line that the block cuts is seen whole in the next one, unless it is as long.
            whole = len(data) if is_last else data.rfind(_NEWLINE) + 1 or len(data) - overlap
            found = await asyncio.to_thread(
                _hits, data[:whole], start, positions, most - len(hits)
            )
            hits += found
            if len(hits) == most:
                last = hits[-1].at - start
                return Found(hits, start + (data.find(_NEWLINE, last) + 1 or whole))
            start += whole
        return Found(hits, start if start < size else None)

    async def _read(self, start: int, stop: int) -> Sequence[Piece]:
        return await self._logs.window(self._log, self._stream, start, stop)


def _data(pieces: Sequence[Piece]) -> bytes:
    return b"".join([piece.data for piece in pieces if piece.kind != CUT])


def _hits(
    data: bytes, base: int, positions: Callable[[bytes], Iterator[int]], most: int
) -> list[Hit]:
    """Return the lines of a block that hold one of these positions."""
    hits: list[Hit] = []
    seen = 0
    for position in positions(data):
        if position < seen:
            continue
        line = data.rfind(_NEWLINE, max(0, position - EXCERPT_BYTES // 2), position) + 1
        begin = line or max(0, position - EXCERPT_BYTES // 2)
        end = data.find(_NEWLINE, position)
        seen = len(data) if end < 0 else end + 1
        hits.append(Hit(base + begin, data[begin : min(seen, begin + EXCERPT_BYTES)].rstrip()))
        if len(hits) == most:
            break
    return hits


def _occurrences(block: bytes, needle: bytes) -> Iterator[int]:
    lower, at = block.lower(), -1
    while (at := lower.find(needle, at + 1)) >= 0:
        yield at
        at = lower.find(_NEWLINE, at)
        if at < 0:
            return


def _error_lines(block: bytes) -> Iterator[int]:
    text, at = block.decode("latin-1"), 0  # so that a character is a byte
    while at < len(text):
        end = text.find("\n", at + _STEP_CHARS) + 1 or len(text)
        if may_have_error(step := text[at:end]):
            position = at
            for line in step.split("\n"):
                if is_like_error(line):
                    yield position
                position += len(line) + 1
        at = end


def _whole_characters(data: bytes) -> int:
    """Return how many bytes there are without a character that has only begun."""
    for back in range(1, min(_MOST_OF_A_CHARACTER, len(data) - 1) + 1):
        if data[-back] & 0xC0 == 0xC0:  # noqa: PLR2004 (the first byte of several)
            return len(data) - back
        if not data[-back] & 0x80:
            break
    return len(data)


def _first_character(data: bytes) -> int:
    """Return how many bytes belong to a character that began before."""
    for at, byte in enumerate(data[: _MOST_OF_A_CHARACTER + 1]):
        if byte & 0xC0 != 0x80:  # noqa: PLR2004 (a byte that continues a character)
            return at
    return 0
