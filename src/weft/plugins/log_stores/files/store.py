"""The log store `files`: output that the runners of this host have written.

It reads in threads and never polls. It must not know the writer, or its purpose.

Wait until a file of an attempt has grown: the kernel reports it (inotify), without polling.

Only where the kernel gives no more watches to this user (`fs.inotify.max_user_watches` and
`max_user_instances`) does each follower look at its file every 0.2 s.
"""

import asyncio
import ctypes
import os
import struct
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from weft.plugins.log_stores.files.reader import BLOCK_BYTES, FileReader, PartReader, own_parts
from weft.ports.log_store import AttemptLog, Extent, LogDirectory
from weft.wire.log_format import Piece
from weft.wire.usage_format import UsageSample

_IN_MODIFY, _IN_MOVED_TO, _IN_CREATE, _IN_IGNORED = 0x2, 0x80, 0x100, 0x8000
_EVENT = struct.Struct("iIII")
_WITHOUT_WATCHES_S = 0.2
_READ_BYTES = 1 << 16


class Grown:
    """One follower's view of one file, which may be created later."""

    def __init__(self, watches: "Watches", own: Path) -> None:
        self._watches = watches
        self._own = own
        self._changed = asyncio.Event()
        self._watch: int | None = None
        self.name = ""
        """The name that must change in the watched directory."""

    def begin(self) -> None:
        """Note changes from now on; call this before looking at the file."""
        self._changed.clear()
        if self._watch is None or self.name != self._own.name:
            self.end()
            self._watch = self._watches.add(self, self._own)

    async def changed(self) -> None:
        """Wait until something has changed since `begin`; without a watch, 0.2 s."""
        if self._watch is None:  # no watches are left on this machine
            await asyncio.sleep(_WITHOUT_WATCHES_S)
        else:
            await self._changed.wait()

    def tell(self, name: str) -> None:
        """Note an event of the watched directory; "": events may be missing."""
        if not name or name == self.name or name.startswith(f"{self.name}."):
            self._changed.set()

    def lose(self) -> None:
        """Note that the watched directory is gone."""
        self._watch = None
        self._changed.set()

    def end(self) -> None:
        """Stop watching."""
        if self._watch is not None:
            self._watches.remove(self, self._watch)
            self._watch = None


class Watches:
    """The directories that this process's followers watch, with one handle for all."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._handle = -1
        self._followers: dict[int, set[Grown]] = {}

    @contextmanager
    def following(self, own: Path) -> Iterator[Grown]:
        """Follow one file; its directories may be missing."""
        grown = Grown(self, own)
        try:
            yield grown
        finally:
            grown.end()

    def add(self, grown: Grown, own: Path) -> int | None:
        """Watch the file's directory or its deepest parent. None: no watches are left."""
        if self._handle < 0 and not self._open():
            return None
        # A directory may be made while its parent is being watched: then go down again.
        path = own
        while True:
            directory = path.parent
            watch = self._libc.inotify_add_watch(
                self._handle, os.fsencode(directory), _IN_MODIFY | _IN_MOVED_TO | _IN_CREATE
            )
            if watch >= 0 and (path == own or not path.exists()):
                grown.name = path.name
                self._followers.setdefault(watch, set()).add(grown)
                return int(watch)
            if watch >= 0:
                self._drop(watch)
                path = own
            elif isinstance(OSError(ctypes.get_errno(), ""), FileNotFoundError):
                path = directory
            else:
                return None

    def remove(self, grown: Grown, watch: int) -> None:
        """Forget one follower; with the last one, remove the watch."""
        followers = self._followers.get(watch)
        if followers is not None:
            followers.discard(grown)
            self._drop(watch)

    def _drop(self, watch: int) -> None:
        if not self._followers.get(watch):
            self._followers.pop(watch, None)
            self._libc.inotify_rm_watch(self._handle, watch)
        if not self._followers:
            self._close()

    def _open(self) -> bool:
        handle = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if handle < 0:
            return False
        self._handle = handle
        asyncio.get_running_loop().add_reader(handle, self._read)
        return True

    def _close(self) -> None:
        if self._handle >= 0:
            asyncio.get_running_loop().remove_reader(self._handle)
            os.close(self._handle)
            self._handle = -1

    def _read(self) -> None:
        data = os.read(self._handle, _READ_BYTES)
        position = 0
        while position < len(data):
            watch, mask, _, length = _EVENT.unpack_from(data, position)
            position += _EVENT.size
            name = os.fsdecode(data[position : position + length].rstrip(b"\0"))
            position += length
            if watch < 0:  # the kernel has dropped events
                for grown in [one for some in self._followers.values() for one in some]:
                    grown.tell("")
            elif mask & _IN_IGNORED:
                for grown in self._followers.pop(watch, set()):
                    grown.lose()
            else:
                for grown in self._followers.get(watch, ()):
                    grown.tell(name)


_BATCH_BYTES = 64 * 1024
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
