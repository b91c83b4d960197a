"""The form of stored output.

Both kinds of file are rows of *pieces*: a header (stream, monotonic time in ms since the attempt's start, length) and
that many bytes. A short output, complete within `FLUSH_MS`, stands in a *segment* file behind a record header that names its attempt; a longer one has
a file of its own. The order of the pieces is the order in which the spawner read them.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

STDOUT, STDERR, CUT = 1, 2, 3
"""Kinds of piece. CUT: its data is 8 bytes stream number, 8 bytes count: so many bytes of that stream were left out here."""
FLUSH_MS = 200
FLUSH_BYTES = 64 * 1024
PIECE = struct.Struct("!BIQ")
"""Length first would let a reader skip; kind (1 byte), length (4), milliseconds since start (8)."""
RECORD = struct.Struct("!4sQIHI")
"""Magic b'weft', batch, job, attempt, bytes of pieces that follow."""
RECORD_MAGIC = b"weft"
CUT_BODY = struct.Struct("!QQ")


class Piece(NamedTuple):
    """One read of one stream."""

    kind: int
    at_ms: int
    data: bytes


def encode_piece(kind: int, at_ms: int, data: bytes) -> bytes:
    """Write one piece."""
    return PIECE.pack(kind, len(data), at_ms) + data


def decode_pieces(data: bytes) -> Iterator[Piece]:
    """Read the pieces that are whole; a torn one at the end (the spawner died while writing) is left out."""
    position = 0
    while position + PIECE.size <= len(data):
        kind, length, at_ms = PIECE.unpack_from(data, position)
        end = position + PIECE.size + length
        if end > len(data):
            return
        yield Piece(kind, at_ms, data[position + PIECE.size : end])
        position = end


def segment_path(root: Path, segment: int) -> Path:
    """Return the file of a segment."""
    return root / "segments" / f"{segment:08d}"


def part_path(own: str, part: int) -> str:
    """Return one part of the file of an attempt: a long output is cut into parts, 0 first."""
    return f"{own}.{part}" if part else own


def own_path(root: Path, batch_id: int, job_id: int, attempt: int) -> Path:
    """Return the file of an attempt whose output is long or slow."""
    return root / "attempts" / f"b{batch_id}" / f"{job_id // 1000}" / f"{job_id}.{attempt}"
