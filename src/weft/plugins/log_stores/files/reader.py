"""Read segments and attempt files, in the caller's thread.

Find bytes of a long output by their offset, without reading what is before them.

Only the headers of pieces are read, once; of every 256 KiB of a file one position is remembered:
100 kB for a gigabyte.
"""

import os
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from weft.plugins.log_stores.files.directory import Directories
from weft.plugins.log_stores.files.spooled_files import PREFIX, why_gone
from weft.ports.log_store import AttemptLog, Extent, LogDirectory
from weft.wire import log_format
from weft.wire.function import result_path
from weft.wire.log_format import (
    CUT,
    CUT_BODY,
    STDOUT,
    Piece,
    count_pieces,
    encode_cut,
    part_path,
    read_pieces,
)
from weft.wire.plain_files import open_plain
from weft.wire.usage_format import UsageSample, decode_samples, usage_path

_MARK_BYTES = 256 * 1024
_BUFFER_BYTES = 4096


class _Mark(NamedTuple):
    """A piece begins at this offset of the file, after these bytes of each stream of the part."""

    offset: int
    stdout: int
    stderr: int

    def count(self, stream: int | None) -> int:
        """Return the bytes of one stream, or of both."""
        return {log_format.STDOUT: self.stdout, log_format.STDERR: self.stderr}.get(
            stream or 0, self.stdout + self.stderr
        )


class _Part:
    """What is known of one part."""

    def __init__(self, first_piece: int, inode: int) -> None:
        self.first_piece = first_piece
        self.inode = inode
        self.n_pieces = 0
        self.marks = [_Mark(0, 0, 0)]
        self.end = self.marks[0]
        """Behind the last whole piece."""
        self.last = (0, b"")
        """Where the last piece begins, and its header."""

    def scan(self, file: BinaryIO) -> None:
        """Read the headers of the pieces that were appended since the last time."""
        size = os.fstat(file.fileno()).st_size
        offset, stdout, stderr = self.end
        while offset + log_format.PIECE.size <= size:
            file.seek(offset)
            header = file.read(log_format.PIECE.size)
            kind, length, _ = log_format.PIECE.unpack(header)
            if offset + log_format.PIECE.size + length > size:
                break
            piece = log_format.Piece(kind, 0, file.read(length) if kind == log_format.CUT else b"")
            if not log_format.is_sound(piece):
                break
            self.n_pieces += log_format.count_pieces(piece)
            self.last = (offset, header)
            offset += log_format.PIECE.size + length
            stdout += length if kind == log_format.STDOUT else 0
            stderr += length if kind == log_format.STDERR else 0
            self.end = _Mark(offset, stdout, stderr)
            if offset - self.marks[-1].offset >= _MARK_BYTES:
                self.marks.append(self.end)

    def is_in(self, file: BinaryIO) -> bool:
        """Say whether a file still begins as known; another may have got its inode."""
        at, header = self.last
        file.seek(at)
        return file.read(len(header)) == header

    def mark_before(self, stream: int | None, position: int) -> _Mark:
        """Return the last mark before a position: a cut that is there begins behind it."""
        at = bisect_left(self.marks, position, key=lambda mark: mark.count(stream))
        return self.marks[max(0, at - 1)]


class OutputIndex:
    """The parts of one attempt. Safe to use from several threads."""

    def __init__(self, own: Path) -> None:
        self._own = own
        self._parts: Sequence[_Part] = ()
        self._lock = threading.Lock()
        self._is_final = False

    def look(self, *, is_final: bool) -> Extent:
        """Note what was written since the last look. `is_final`: nothing is written any more."""
        with self._lock:
            if not self._is_final:
                known = {part.first_piece: part for part in self._parts}
                found = [self._look_at(first, known.get(first)) for first in own_parts(self._own)]
                self._parts = [part for part in found if part is not None]
                self._is_final = is_final
        parts = self._parts
        return Extent(
            sum(part.end.stdout for part in parts),
            sum(part.end.stderr for part in parts),
            parts[-1].first_piece + parts[-1].n_pieces if parts else 0,
        )

    def pieces(self, stream: int | None, start: int, stop: int) -> Iterator[log_format.Piece]:
        """Yield the pieces with these bytes, cut to them, and the cuts between them."""
        position, expected = 0, 0
        for part in self._parts:
            end = position + part.end.count(stream)
            if start <= position < stop and expected < part.first_piece:
                yield log_format.encode_cut(log_format.STDOUT, 0, 0, part.first_piece - expected)
            if end >= start and position < stop:
                yield from self._within(part, position, stream, start, stop)
            position, expected = end, part.first_piece + part.n_pieces

    def _look_at(self, first_piece: int, known: _Part | None) -> _Part | None:
        try:
            with open(
                log_format.part_path(str(self._own), first_piece),
                "rb",
                _BUFFER_BYTES,
                opener=open_plain,
            ) as file:
                found = os.fstat(file.fileno())
                part = _Part(first_piece, found.st_ino)
                # A part from which something was left out is another file, and a shorter one.
                if (
                    known is not None
                    and known.inode == found.st_ino
                    and found.st_size >= known.end.offset
                    and known.is_in(file)
                ):
                    part = known
                part.scan(file)
                return part
        except FileNotFoundError:
            return None

    def _within(
        self, part: _Part, begin: int, stream: int | None, start: int, stop: int
    ) -> Iterator[log_format.Piece]:
        mark = part.mark_before(stream, max(0, start - begin))
        try:
            with open(
                log_format.part_path(str(self._own), part.first_piece), "rb", opener=open_plain
            ) as file:
                if os.fstat(file.fileno()).st_ino == part.inode:
                    file.seek(mark.offset)
                    at = begin + mark.count(stream)
                    yield from log_format.cut_out(
                        log_format.read_pieces(file), at, stream, start, stop
                    )
        except FileNotFoundError:
            return


_KEPT_INDEXES = 32


class FileReader:
    """Read the segments and attempt files of a home."""

    def __init__(self, root: Path) -> None:
        self.directories = Directories(root)
        self._indexes: OrderedDict[Path, OutputIndex] = OrderedDict()
        self._lock = threading.Lock()

    def pieces(self, log: AttemptLog, after: int) -> Iterator[log_format.Piece]:
        """Yield the stored pieces; see the port."""
        if log.location is not None:
            pieces = log_format.decode_pieces(self._record(log))
            yield from _skip((piece for piece in pieces if piece.kind != log_format.RESULT), after)
        else:
            reader = PartReader(self.own(log), after)
            try:
                yield from reader.read()
            finally:
                reader.close()

    def size(self, log: AttemptLog, stream: int) -> int:
        """Return how many bytes of one stream are stored now."""
        written = log.stdout_bytes if stream == log_format.STDOUT else log.stderr_bytes
        if log.ended and not log.truncated and (written or log.location is not None):
            return written
        return self.extent(log).count(stream)

    def extent(self, log: AttemptLog) -> Extent:
        """Return how much is stored now."""
        if log.location is None:
            return self._index_of(log).look(is_final=log.ended)
        pieces = list(self.pieces(log, 0))
        stdout, stderr = (
            sum(len(piece.data) for piece in pieces if piece.kind == kind)
            for kind in (log_format.STDOUT, log_format.STDERR)
        )
        return Extent(stdout, stderr, sum(map(log_format.count_pieces, pieces)))

    def window(
        self, log: AttemptLog, stream: int | None, start: int, stop: int
    ) -> Iterator[log_format.Piece]:
        """Yield bytes as pieces; see the port."""
        if log.location is not None:
            return log_format.cut_out(self.pieces(log, 0), 0, stream, start, stop)
        index = self._index_of(log)
        index.look(is_final=log.ended)
        return index.pieces(stream, start, stop)

    def read(self, log: AttemptLog, stream: int, start: int, stop: int) -> bytes:
        """Return bytes of one stream."""
        pieces = self.window(log, stream, start, stop)
        return b"".join(piece.data for piece in pieces if piece.kind == stream)

    def why_gone(self, log: AttemptLog) -> str | None:
        """Return why an output is not there; see the port. Only a spool removes single ones."""
        if log.directory is None:
            return None
        directory = self.directories.path_of(log.directory)
        if not directory.name.startswith(PREFIX):
            return None
        return None if self.has(log) else why_gone(directory, log.batch_id)

    def has(self, log: AttemptLog) -> bool:
        """Say whether anything is stored of an output."""
        return bool(own_parts(self.own(log)) if log.location is None else self._record(log))

    def samples(self, log: AttemptLog) -> list[UsageSample]:
        """Return the samples of what an attempt used; see the port."""
        try:
            with open(usage_path(self.own(log)), "rb", opener=open_plain) as file:
                return decode_samples(file.read())
        except FileNotFoundError:
            return []

    def results(self, logs: Iterable[AttemptLog]) -> Iterator[tuple[AttemptLog, Iterator[bytes]]]:
        """Yield results: from the record if it is short, else from its file; see the port."""
        with ResultReader(self.directories) as reader:
            for log in logs:
                yield log, reader.read(log)

    def _index_of(self, log: AttemptLog) -> OutputIndex:
        own = self.own(log)
        with self._lock:
            index = self._indexes[own] = self._indexes.pop(own, OutputIndex(own))
            while len(self._indexes) > _KEPT_INDEXES:
                self._indexes.popitem(last=False)
        return index

    def own(self, log: AttemptLog) -> Path:
        """Return the file of an attempt whose output is not in a segment."""
        return log_format.own_path(
            self.directories.path_of(log.directory), log.batch_id, log.job_id, log.attempt
        )

    def _record(self, log: AttemptLog) -> bytes:
        """Return a record's pieces; nothing if the segment is gone or names another attempt."""
        assert log.location is not None
        segment, offset = log_format.decode_location(log.location)
        try:
            path = log_format.segment_path(self.directories.path_of(log.directory), segment)
            with open(path, "rb", opener=open_plain) as file:
                file.seek(offset)
                header = file.read(log_format.RECORD.size)
                length = log_format.record_length(header, log.batch_id, log.job_id, log.attempt)
                return b"" if length is None else file.read(length)
        except FileNotFoundError:
            return b""


def _skip(pieces: Iterator[log_format.Piece], after: int) -> Iterator[log_format.Piece]:
    """Skip the first `after` pieces; a cut at the beginning does not count, but is kept."""
    number = 0
    for piece in pieces:
        end = number + log_format.count_pieces(piece)
        if end > after or (piece.kind == log_format.CUT and not after):
            yield piece
            after = 0
        number = end


def own_parts(own: Path) -> list[int]:
    """Return the numbers of the first pieces of the existing parts, in order."""
    try:
        names = os.listdir(own.parent)  # noqa: PTH208 (a directory may hold a thousand names)
    except FileNotFoundError:
        return []
    prefix = f"{own.name}."
    numbers = [
        int(name[len(prefix) :])
        for name in names
        if name.startswith(prefix) and name[len(prefix) :].isdigit()
    ]
    return sorted(([0] if own.name in names else []) + numbers)


class PartReader:
    """Read on from the current position. The numbers of the yielded pieces have no gap: a cut
    counts for the pieces that are missing.
    """

    def __init__(self, own: Path, after: int) -> None:
        self._own = own
        self._after = after
        self._number = 0
        """Position of the next piece."""
        self._told = after
        """The number of the piece that the reader expects next."""
        self._has_begun = after == 0
        self._part = -1
        self._file: BinaryIO | None = None

    def read(self) -> Iterator[Piece]:
        """Yield the pieces that exist now and were not yielded yet."""
        while True:
            yield from self._read_part()
            following = [first for first in own_parts(self._own) if first > self._part]
            if not following:
                return
            # Pieces that were appended before the next part was begun.
            yield from self._read_part()
            self._open(self._part_to_begin_with(following))

    def _part_to_begin_with(self, following: list[int]) -> int:
        """Skip parts that hold only known pieces."""
        known = [first for first in following if first <= self._after]
        return known[-1] if known else following[0]

    def close(self) -> None:
        """Read no more."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, first_piece: int) -> None:
        self.close()
        try:
            self._file = open(part_path(str(self._own), first_piece), "rb", opener=open_plain)  # noqa: SIM115 (read on later)
        except FileNotFoundError:
            # Removed by shortening since it was listed.
            self._part = first_piece
            return
        self._part = self._number = first_piece

    def _read_part(self) -> Iterator[Piece]:
        if self._file is None:
            return
        for piece in read_pieces(self._file):
            begin = self._number
            self._number = end = begin + count_pieces(piece)
            gap, self._told = begin - self._told, max(end, self._told)
            # Known already. Nothing later is: a cut may count for no piece, or for less than none.
            if end <= begin - gap and not self._has_begun:
                continue
            self._has_begun = True
            if piece.kind == CUT and gap > 0:
                stream, n_bytes, n_pieces = CUT_BODY.unpack(piece.data)
                yield encode_cut(stream, piece.at_ms, n_bytes, n_pieces + gap)
                continue
            if gap > 0:
                yield encode_cut(STDOUT, piece.at_ms, 0, gap)
            yield piece


_GUESS_BYTES = 4096
"""Most records are shorter, so one read is enough."""
BLOCK_BYTES = 1 << 18


class ResultReader:
    """Read one result after another. Neighbours are in the same segment, which stays open."""

    def __init__(self, directories: Directories) -> None:
        self._directories = directories
        self._segment: tuple[str | None, int] | None = None
        """The name of its directory and its number."""
        self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def read(self, log: AttemptLog) -> Iterator[bytes]:
        """Yield the blocks of one result."""
        if log.location is not None:
            for piece in log_format.decode_pieces(self._record(log)):
                if piece.kind == log_format.RESULT:
                    yield piece.data
                    return
        root = self._directories.path_of(log.directory)
        path = result_path(root, log.batch_id, log.job_id, log.attempt)
        try:
            with open(path, "rb", opener=open_plain) as file:
                while block := file.read(BLOCK_BYTES):
                    yield block
        except FileNotFoundError:
            return

    def _record(self, log: AttemptLog) -> bytes:
        """Return a record's pieces; nothing if the segment is gone or names another attempt."""
        assert log.location is not None
        segment, offset = log_format.decode_location(log.location)
        if not self._open(log.directory, segment):
            return b""
        data = os.pread(self._fd, _GUESS_BYTES, offset)
        length = log_format.record_length(data, log.batch_id, log.job_id, log.attempt)
        if length is None:
            return b""
        end = log_format.RECORD.size + length
        if end > len(data):
            data += os.pread(self._fd, end - len(data), offset + len(data))
        return data[log_format.RECORD.size : end]

    def _open(self, directory: LogDirectory | None, segment: int) -> bool:
        wanted = (None if directory is None else directory.name, segment)
        if wanted == self._segment:
            return True
        self._close()
        path = log_format.segment_path(self._directories.path_of(directory), segment)
        try:
            self._fd = open_plain(path, os.O_RDONLY)
        except FileNotFoundError:
            return False
        self._segment = wanted
        return True

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd, self._segment = -1, None
