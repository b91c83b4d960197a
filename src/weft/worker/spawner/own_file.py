"""The file of a long output: a sequence of parts, so that its middle can be left out while the job
still writes.

The first part is `own_path`; the names of the others end with the number of their first piece.
Pieces are appended in the order in which they are read.
When a stream exceeds its limit, the oldest parts between its kept head and tail are rewritten
without it, or removed if they hold nothing else. So the disk holds at most the limit and one part
of each stream, and memory at most one piece.
"""

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from weft.wire.log_format import (
    CUT,
    CUT_BODY,
    STDERR,
    STDOUT,
    Piece,
    encode_cut,
    encode_piece,
    part_path,
    read_pieces,
)
from weft.wire.plain_files import open_plain
from weft.worker.private_files import make_private, write_all

_COPY_BYTES = 64 * 1024
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC
_STREAMS = (STDOUT, STDERR)
Range = tuple[int, int]
"""Bytes of a stream from the first number up to, not including, the second."""


class PartSizes(NamedTuple):
    """How long a part is: an eighth of the limit, within these bounds."""

    minimum: int = 64 * 1024
    maximum: int = 8 * 1024 * 1024


class OwnFile:
    """Append pieces; keep the head and tail of each stream. Every method may raise `OSError`."""

    __slots__ = (
        "_carry",
        "_head",
        "_limit",
        "_n_pieces",
        "_part_bytes",
        "_part_bytes_max",
        "_part_fd",
        "_parts",
        "_path",
        "_shrunk",
        "_totals",
    )

    def __init__(
        self, path: str, *, bytes_max: int, head_bytes: int, part_sizes: PartSizes
    ) -> None:
        self._path = path
        self._limit = bytes_max
        self._head = head_bytes
        self._part_bytes_max = min(max(bytes_max // 8, part_sizes.minimum), part_sizes.maximum)
        self._totals = {STDOUT: 0, STDERR: 0}
        self._parts: list[_Part] = []
        self._n_pieces = 0
        self._shrunk = {STDOUT: 0, STDERR: 0}
        """The first part from which nothing of the stream was left out yet."""
        self._carry = {STDOUT: 0, STDERR: 0}
        """How much was left out with removed parts; the next part has to say it."""
        self._part_fd = -1
        self._part_bytes = 0
        make_private(os.path.dirname(path))
        self._open_part()

    def append(self, pieces: list[Piece]) -> None:
        """Write pieces at the end."""
        if self._part_bytes >= self._part_bytes_max:
            self._open_part()
            for stream in _STREAMS:
                self._leave_out(stream, whole_parts=True)
        data = b"".join([encode_piece(*piece) for piece in pieces])
        write_all(self._part_fd, data)
        self._part_bytes += len(data)
        self._n_pieces += len(pieces)
        for kind, _, body in pieces:
            self._totals[kind] += len(body)

    def finish(self) -> None:
        """Leave out exactly what exceeds the limit, and close."""
        for stream in _STREAMS:
            self._leave_out(stream, whole_parts=False)
        self.close()

    def close(self) -> None:
        """Close the file; nothing can be appended any more."""
        if self._part_fd >= 0:
            os.close(self._part_fd)
            self._part_fd = -1

    def _open_part(self) -> None:
        self.close()
        path = part_path(self._path, self._n_pieces)
        self._part_fd = open_plain(path, _FLAGS)
        self._part_bytes = 0
        self._parts.append(_Part(self._n_pieces, dict(self._totals)))

    def _leave_out(self, stream: int, *, whole_parts: bool) -> None:
        """Rewrite the parts that hold bytes of a stream that are no longer kept."""
        stop = self._totals[stream] - (self._limit - self._head)
        if self._totals[stream] <= self._limit:
            return
        part = self._shrunk[stream]
        while part < len(self._parts):
            is_last = part + 1 == len(self._parts)
            end = self._totals[stream] if is_last else self._parts[part + 1].starts[stream]
            if (
                (end > stop or is_last)
                if whole_parts
                else self._parts[part].starts[stream] >= stop
            ):
                break
            if end > self._head and end > self._parts[part].starts[stream]:
                self._shrink(part, stream, (self._head, stop))
            part += 1
        self._shrunk[stream] = part
        if self._carry[stream] and not whole_parts:
            self._say_carry(min(part, len(self._parts) - 1), stream, stop)

    def _shrink(self, part: int, stream: int, cut: Range) -> None:
        one = self._parts[part]
        running = Cut(stream, cut, begin=one.starts[stream], left_out=self._carry[stream])
        shrink(part_path(self._path, one.first_piece), running)
        self._carry[stream] = running.left_out

    def _say_carry(self, part: int, stream: int, stop: int) -> None:
        """Say at the beginning of a part what is missing; it may have been removed as well."""
        first = self._parts[part].first_piece
        path = part_path(self._path, first)
        if os.path.exists(path):
            self._shrink(part, stream, (stop, stop))
        else:
            is_last = part + 1 == len(self._parts)
            end = self._n_pieces if is_last else self._parts[part + 1].first_piece
            said = encode_cut(stream, 0, self._carry[stream], end - first)
            with open(path, "wb", opener=open_plain) as file:
                file.write(encode_piece(*said))


class _Part:
    """Where a part begins."""

    __slots__ = ("first_piece", "starts")

    def __init__(self, first_piece: int, starts: dict[int, int]) -> None:
        self.first_piece = first_piece
        self.starts = starts


class Cut:
    """One pass over pieces that leaves out a range of one stream."""

    def __init__(self, stream: int, cut: Range, *, begin: int = 0, left_out: int = 0) -> None:
        self._stream = stream
        self._start, self._stop = cut
        self._position = begin
        """The offset in the stream at which its first piece begins."""
        self.left_out = left_out
        """Bytes that are missing and not marked by a CUT yet."""
        self._n_pieces = 0
        self._at_ms = 0

    def apply(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Yield the remaining pieces, with a CUT where something is missing.

        If nothing remains, nothing is yielded and `left_out` says what is missing.
        """
        is_empty = True
        for piece in pieces:
            for kept in self._split(piece):
                if self.left_out:
                    yield self._say()
                yield kept
                is_empty = False
        if self.left_out and not is_empty:
            yield self._say()

    def _split(self, piece: Piece) -> Iterator[Piece]:
        """Yield the parts of a piece that are kept, in order, and count the rest."""
        kind, at_ms, data = piece
        if kind == CUT:
            stream, n_bytes, n_pieces = CUT_BODY.unpack(data)
            if stream != self._stream:
                yield piece
                return
            self._position += n_bytes
            self._leave_out(n_bytes, n_pieces, at_ms)
        elif kind != self._stream:
            yield piece
        else:
            size = len(data)
            first = min(max(self._start - self._position, 0), size)
            last = min(max(self._stop - self._position, first), size)
            self._position += size
            if first == last:
                yield piece
                return
            if first:
                yield Piece(kind, at_ms, data[:first])
            self._leave_out(last - first, 1 - (first > 0) - (last < size), at_ms)
            if last < size:
                yield Piece(kind, at_ms, data[last:])

    def _leave_out(self, n_bytes: int, n_pieces: int, at_ms: int) -> None:
        self.left_out += n_bytes
        self._n_pieces += n_pieces
        self._at_ms = at_ms

    def _say(self) -> Piece:
        said = encode_cut(self._stream, self._at_ms, self.left_out, self._n_pieces)
        self.left_out = self._n_pieces = 0
        return said


def shrink(path: str, cut: Cut) -> None:
    """Rewrite a part without the bytes to leave out; remove it if it holds nothing else.

    A reader that has the old file open continues to read it.
    """
    temporary = f"{path}~"
    is_empty = True
    try:
        with (
            open(path, "rb", opener=open_plain) as source,
            open(temporary, "wb", buffering=_COPY_BYTES, opener=open_plain) as target,
        ):
            for piece in cut.apply(read_pieces(source)):
                target.write(encode_piece(*piece))
                is_empty = False
        if is_empty:
            os.unlink(temporary)
            os.unlink(path)
        else:
            os.replace(temporary, path)
    except OSError:
        remove(temporary)
        raise


def remove(path: str) -> None:
    """Remove a file, if that is possible."""
    try:
        os.unlink(path)
    except OSError:
        return
