"""Read the file of one attempt, part by part, while the spawner may still write and shorten it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

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
