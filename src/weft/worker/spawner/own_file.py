"""The file of its own of a long output: a row of parts, so that the middle can be left out while
the job still writes.

Part 0 is `own_path`, part n is that with `.n` behind. All pieces are appended in order of reading.
When a stream has become longer than its limit, the oldest parts that lie between its first and its
last bytes are written again without them, or removed if nothing else was in them. So the disk holds no more than the limit and one part of
each stream, and the memory no more than one piece.
"""

import os
from collections.abc import Callable

from weft.wire.log_format import CUT, CUT_BODY, PIECE, STDERR, STDOUT, Piece, encode_piece, part_path

_PART_BYTES_MIN = 64 * 1024
_PART_BYTES_MAX = 8 * 1024 * 1024
_COPY_BYTES = 64 * 1024
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
_STREAMS = (STDOUT, STDERR)

Range = tuple[int, int]
"""Bytes of a stream from the first number to before the second."""


class OwnFile:
    """Append pieces, keep head and tail of each stream. Every method may raise `OSError`."""

    __slots__ = ("_carry", "_head", "_limit", "_part_bytes", "_part_fd", "_path", "_shrunk", "_starts", "_totals")

    def __init__(self, path: str, *, bytes_max: int, head_bytes: int) -> None:
        self._path = path
        self._limit = bytes_max
        self._head = head_bytes
        self._totals = {STDOUT: 0, STDERR: 0}
        self._starts: list[dict[int, int]] = []
        """Where each part begins in each stream."""
        self._shrunk = {STDOUT: 0, STDERR: 0}
        """The first part of which nothing of the stream was left out yet."""
        self._carry = {STDOUT: 0, STDERR: 0}
        """How much was left out in parts that were removed, to be said in the next one."""
        self._part_fd = -1
        self._part_bytes = 0
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 (as in output_path)
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
        for kind, _, body in pieces:
            self._totals[kind] += len(body)

    def finish(self) -> None:
        """Leave out exactly what is too much, and close."""
        for stream in _STREAMS:
            self._leave_out(stream, whole_parts=False)
        self.close()

    def close(self) -> None:
        """Close the file; nothing can be appended any more."""
        if self._part_fd >= 0:
            os.close(self._part_fd)
            self._part_fd = -1

    @property
    def _part_bytes_max(self) -> int:
        return min(max(self._limit // 8, _PART_BYTES_MIN), _PART_BYTES_MAX)

    def _open_part(self) -> None:
        self.close()
        path = part_path(self._path, len(self._starts))
        self._part_fd = os.open(path, _FLAGS | os.O_TRUNC, 0o600)
        self._part_bytes = 0
        self._starts.append(dict(self._totals))

    def _leave_out(self, stream: int, *, whole_parts: bool) -> None:
        """Write those parts again that hold what is no longer kept of a stream."""
        stop = self._totals[stream] - (self._limit - self._head)
        if self._totals[stream] <= self._limit:
            return
        part = self._shrunk[stream]
        while part < len(self._starts):
            is_last = part + 1 == len(self._starts)
            end = self._totals[stream] if is_last else self._starts[part + 1][stream]
            if (end > stop or is_last) if whole_parts else self._starts[part][stream] >= stop:
                break
            if end > self._head:
                self._shrink(part, stream, (self._head, stop))
            part += 1
        self._shrunk[stream] = part
        if self._carry[stream] and not whole_parts:
            self._shrink(part, stream, (stop, stop))

    def _shrink(self, part: int, stream: int, cut: Range) -> None:
        self._carry[stream] = shrink(
            part_path(self._path, part), stream, self._starts[part][stream], cut,
            left_out=self._carry[stream],
        )  # fmt: skip


def shrink(path: str, stream: int, begin: int, cut: Range, *, left_out: int) -> int:
    """Write a part again without the bytes of `cut` of one stream, which begins at `begin` in it.

    `left_out` more bytes are missing before it; a part of which nothing is left is removed, and
    what is missing then is returned, to be said by the next. A reader that has the old file open
    goes on reading it.
    """
    temporary = f"{path}~"
    try:
        with open(path, "rb") as source, open(temporary, "wb", buffering=_COPY_BYTES) as target:
            os.fchmod(target.fileno(), 0o600)
            shrinker = _Shrinker(source.fileno(), target.write, stream, cut, left_out)
            shrinker.run(begin)
            target.flush()
        if shrinker.is_empty:
            os.unlink(temporary)  # noqa: PTH108 (as in output_path)
            os.unlink(path)  # noqa: PTH108
            return shrinker.left_out
        os.replace(temporary, path)  # noqa: PTH105
    except OSError:
        _remove(temporary)
        raise
    return 0


class _Shrinker:
    """Copy pieces from a file, but for one range of one stream."""

    def __init__(
        self, fd: int, write: Callable[[bytes], int], stream: int, cut: Range, left_out: int
    ) -> None:
        self._fd = fd
        self._write_out = write
        self._stream = stream
        self._start, self._stop = cut
        self.left_out = left_out
        self._left_out_ms = 0
        self.is_empty = True
        """Nothing but the cut was in it."""

    def run(self, position: int) -> None:
        """Copy. `position` is the stream's at the beginning of the file."""
        at = 0
        while True:
            header = os.pread(self._fd, PIECE.size, at)
            if len(header) < PIECE.size:
                break
            kind, length, at_ms = PIECE.unpack(header)
            at += PIECE.size
            if kind == self._stream:
                self._copy_around(at, length, at_ms, position)
                position += length
            else:
                position += self._copy(kind, at, length, at_ms)
            at += length
        if not self.is_empty:
            self._say()

    def _copy(self, kind: int, at: int, length: int, at_ms: int) -> int:
        """Copy a piece and return by how much it moves the stream on: a cut of before does."""
        body = os.pread(self._fd, length, at)
        if kind == CUT:
            stream, count = CUT_BODY.unpack(body)
            if stream == self._stream:
                self.left_out += count
                self._left_out_ms = at_ms
                return int(count)
        self._say()
        self._write(encode_piece(kind, at_ms, body))
        return 0

    def _copy_around(self, at: int, length: int, at_ms: int, position: int) -> None:
        """Copy what stands before and behind the range; count what is in it."""
        before = min(max(self._start - position, 0), length)
        behind = min(max(position + length - self._stop, 0), length - before)
        if position >= self._stop:
            before, behind = length, 0
        if before:
            self._say()
            self._write(encode_piece(self._stream, at_ms, os.pread(self._fd, before, at)))
        if before + behind < length:
            self.left_out += length - before - behind
            self._left_out_ms = at_ms
        if behind:
            self._say()
            body = os.pread(self._fd, behind, at + length - behind)
            self._write(encode_piece(self._stream, at_ms, body))

    def _write(self, data: bytes) -> None:
        self.is_empty = False
        self._write_out(data)

    def _say(self) -> None:
        if self.left_out:
            body = CUT_BODY.pack(self._stream, self.left_out)
            self._write(encode_piece(CUT, self._left_out_ms, body))
            self.left_out = 0


def write_all(fd: int, data: bytes) -> None:
    """Write everything; raise `OSError` when a part of it could not be written."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _remove(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108 (as in output_path)
    except OSError:
        return
