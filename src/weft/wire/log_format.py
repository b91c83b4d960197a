"""The format of stored output.

Both kinds of file are sequences of *pieces*: a header (stream, length, milliseconds since the
attempt's start by a monotonic clock) and that many bytes. A short output, complete within
`FLUSH_MS`, is stored in a *segment* file behind a record header that names its attempt; a longer
one has files of its own, called parts. Pieces are stored in the order in which the spawner read
them.

Pieces are numbered from 0. Pieces left out of the middle of a long output keep their numbers: the
name of a part gives the number of its first piece, and a CUT the number of pieces it replaces.
"""

import os
import re
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, NewType

from weft.core.states import AttemptKey

LogLocation = NewType("LogLocation", bytes)
"""Where a log store has put an output: exactly `LOG_LOCATION_BYTES`, which only it can read."""
LOG_LOCATION_BYTES: Final = 12


STDOUT, STDERR, CUT, RESULT = 1, 2, 3, 4
"""Kinds of piece. CUT: some bytes of a stream were left out here (`CUT_BODY`). RESULT: what a
function returned (`wire/function.py`), the last piece of a record, not part of the output."""
FLUSH_MS = 200
FLUSH_BYTES = 64 * 1024
PIECE = struct.Struct("!BIQ")
"""Kind (1 byte), length (4), milliseconds since start (8)."""
RECORD = struct.Struct("!4sQIHI")
"""Magic b'weft', batch, job, attempt, bytes of pieces that follow."""
RECORD_MAGIC = b"weft"
CUT_BODY = struct.Struct("!QQq")
"""The stream, how many bytes of it, and for how many pieces the cut stands: 0 if what it replaces
is counted elsewhere, -1 if it splits one piece in two."""

_KINDS = frozenset({STDOUT, STDERR, CUT, RESULT})
_COUNT_MAX = 1 << 53
"""No cut stands for more bytes or pieces."""

_LOCATION = struct.Struct("!iq")
_OF_ATTEMPT = re.compile(
    r"attempts/b([1-9][0-9]{0,17})/([0-9]{1,6})/"
    r"([1-9][0-9]{0,8})\.([1-9][0-9]{0,4})(\.([0-9]{1,18}|usage|result|checkpoint|arriving))?"
)


class Piece(NamedTuple):
    """One read of one stream."""

    kind: int
    at_ms: int
    data: bytes


def count_pieces(piece: Piece) -> int:
    """Return by how much the number of the next piece is higher than that of this one."""
    return int(CUT_BODY.unpack(piece.data)[2]) if piece.kind == CUT else 1


def encode_piece(kind: int, at_ms: int, data: bytes) -> bytes:
    """Write one piece."""
    return PIECE.pack(kind, len(data), at_ms) + data


def encode_cut(stream: int, at_ms: int, n_bytes: int, n_pieces: int) -> Piece:
    """Return the piece that says what was left out."""
    return Piece(CUT, at_ms, CUT_BODY.pack(stream, n_bytes, n_pieces))


def decode_pieces(data: bytes) -> Iterator[Piece]:
    """Read the whole pieces; a torn one at the end (the spawner died in writing) is left out."""
    position = 0
    while position + PIECE.size <= len(data):
        kind, length, at_ms = PIECE.unpack_from(data, position)
        end = position + PIECE.size + length
        if end > len(data):
            return
        piece = Piece(kind, at_ms, data[position + PIECE.size : end])
        if not is_sound(piece):
            return
        yield piece
        position = end


def read_pieces(file: BinaryIO) -> Iterator[Piece]:
    """Read pieces from a file that is open at the beginning of one. At the end, or at a piece that
    is not whole yet, the file stands behind the last whole one.
    """
    position = file.tell()
    while True:
        header = file.read(PIECE.size)
        if len(header) < PIECE.size:
            break
        kind, length, at_ms = PIECE.unpack(header)
        data = file.read(length)
        piece = Piece(kind, at_ms, data)
        if len(data) < length or not is_sound(piece):
            break
        position += PIECE.size + length
        yield piece
    file.seek(position)


def is_sound(piece: Piece) -> bool:
    """Say whether the spawner may have written this. Files of workers outside may be a stranger's;
    at a piece that is none they end, as at a torn one.
    """
    if piece.kind != CUT:
        return piece.kind in _KINDS
    if len(piece.data) != CUT_BODY.size:
        return False
    stream, n_bytes, n_pieces = CUT_BODY.unpack(piece.data)
    return stream in {STDOUT, STDERR} and n_bytes < _COUNT_MAX and -1 <= n_pieces < _COUNT_MAX


def names_job(batch_id: int, job_id: int) -> bool:
    """Say whether there may be such a job."""
    return 0 < batch_id < 1 << 63 and 0 < job_id < 1 << 31


def cut_out(
    pieces: Iterable[Piece], position: int, stream: int | None, start: int, stop: int
) -> Iterator[Piece]:
    """Yield bytes `start` to `stop` of one stream, or of both, with the cuts between them. The
    pieces begin at a position.
    """
    for piece in pieces:
        if position >= stop:
            return
        if piece.kind == CUT:
            if position >= start and stream in {None, CUT_BODY.unpack(piece.data)[0]}:
                yield piece
        elif piece.kind == stream or (stream is None and piece.kind in {STDOUT, STDERR}):
            data = piece.data[max(0, start - position) : stop - position]
            position += len(piece.data)
            if data:
                yield Piece(piece.kind, piece.at_ms, data)


def segment_location(segment: int | None, offset: int | None) -> LogLocation | None:
    """Return where in the segments a record is; None: the output is not in a segment."""
    return None if segment is None else LogLocation(_LOCATION.pack(segment, offset or 0))


def decode_location(location: LogLocation) -> tuple[int, int]:
    """Return the segment and the offset of a location."""
    segment, offset = _LOCATION.unpack(location)
    return segment, offset


def segment_path(root: Path, segment: int) -> Path:
    """Return the file of a segment."""
    return root / "segments" / f"{segment:08d}"


def part_path(own: str, first_piece: int) -> str:
    """Return one part of the file of an attempt, by the number of its first piece."""
    return f"{own}.{first_piece}" if first_piece else own


def own_path(root: Path, batch_id: int, job_id: int, attempt: int) -> Path:
    """Return the file of an attempt whose output is long or slow: its first part."""
    return root / "attempts" / f"b{batch_id}" / f"{job_id // 1000}" / f"{job_id}.{attempt}"


def attempt_of(path: str) -> AttemptKey | None:
    """Return whose file this is, by its path below the root; None: it is no file of an attempt."""
    match = _OF_ATTEMPT.fullmatch(path)
    if match is None or int(match[3]) // 1000 != int(match[2]):
        return None
    return AttemptKey(int(match[1]), int(match[3]), int(match[4]))


def checkpoint_path(own: Path) -> Path:
    """Return where the api keeps what a job has put into its checkpoint's directory."""
    return own.with_name(f"{own.name}.checkpoint")


def arriving_path(own: Path) -> Path:
    """Return where the next one is until it is whole."""
    return own.with_name(f"{own.name}.arriving")


def record_length(header: bytes, *attempt: int) -> int | None:
    """Return the bytes of pieces that follow; None: it is no record of this attempt."""
    if len(header) < RECORD.size:
        return None
    magic, *names, length = RECORD.unpack_from(header)
    return int(length) if (magic, *names) == (RECORD_MAGIC, *attempt) else None


def log_sizes(root: Path, keys: Sequence[AttemptKey], segments: Sequence[int]) -> dict[str, int]:
    """Return lengths of these attempts' files, and of these segments, by path below the root."""
    names_of: defaultdict[Path, set[str]] = defaultdict(set)
    for key in keys:
        own = own_path(root, key.batch_id, key.job_id, key.attempt)
        names_of[own.parent].add(own.name)
    found = {}
    for directory, names in names_of.items():
        for entry in _entries(directory):
            job, attempt, *_ = [*entry.name.split("."), ""]
            if f"{job}.{attempt}" in names and not entry.name.endswith("~"):
                path = os.path.relpath(entry.path, root)
                with suppress(FileNotFoundError):
                    found[path] = entry.stat(follow_symlinks=False).st_size
    for segment in segments:
        file = segment_path(root, segment)
        with suppress(FileNotFoundError):
            found[str(file.relative_to(root))] = file.stat().st_size
    return found


def _entries(directory: Path) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from entries
    except FileNotFoundError:
        return
