"""Write output that was collected elsewhere: a file of its own for each attempt."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weft.core.states import AttemptKey
from weft.ports.log_store import Stored
from weft.wire.log_format import (
    LogLocation,
    Piece,
    count_pieces,
    encode_piece,
    own_path,
    read_pieces,
)
from weft.wire.plain_files import open_plain
from weft.wire.usage_format import UsageSample, encode_sample, usage_path

_ENDS_MAX: Final = 4096
_ANEW: Final = 0, 0
"""Pieces and size of a file of which nothing stays."""


class FileLogWriter:
    """Append to attempt files; see the port for the methods. An attempt has one writer."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._ends: dict[AttemptKey, tuple[int, int]] = {}
        """Pieces and size of the files that grew last: they need not be read again."""

    async def append(
        self, key: AttemptKey, pieces: Sequence[Piece], *, after: int, anew: bool = False
    ) -> None:
        """Append the pieces that are not stored yet."""
        end = self._ends.pop(key, None)
        if anew:
            end = _ANEW
        self._ends[key] = await asyncio.to_thread(self._append, key, pieces, after, end)
        if len(self._ends) > _ENDS_MAX:
            del self._ends[next(iter(self._ends))]

    async def stored(self, key: AttemptKey) -> Stored:
        return await asyncio.to_thread(self._stored, key)

    async def keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        """Write the file of the samples anew."""
        await asyncio.to_thread(self._keep_samples, key, samples)

    async def finish(self, key: AttemptKey) -> LogLocation | None:
        """Return nothing: the attempt alone identifies the file."""
        self._ends.pop(key, None)
        return None

    def _append(
        self, key: AttemptKey, pieces: Sequence[Piece], after: int, end: tuple[int, int] | None
    ) -> tuple[int, int]:
        path = own_path(self._root, key.batch_id, key.job_id, key.attempt)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "a+b", opener=open_plain) as file:
            if end == _ANEW:
                file.truncate(0)
            if end is None or end[1] != os.fstat(file.fileno()).st_size:
                file.seek(0)
                stored = sum(map(count_pieces, read_pieces(file)))
                end = stored, file.tell()
                file.truncate(end[1])  # a piece that an earlier writer could not finish
            stored, size = end
            new = pieces[max(0, stored - after) :]
            size += file.write(b"".join(encode_piece(*piece) for piece in new))
        return stored + sum(map(count_pieces, new)), size

    def _stored(self, key: AttemptKey) -> Stored:
        path = own_path(self._root, key.batch_id, key.job_id, key.attempt)
        try:
            with open(path, "rb", opener=open_plain) as file:
                return Stored().plus(read_pieces(file))
        except FileNotFoundError:
            return Stored()

    def _keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        path = Path(usage_path(own_path(self._root, key.batch_id, key.job_id, key.attempt)))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}~")
        with open(fresh, "wb", opener=open_plain) as file:
            file.write(b"".join(map(encode_sample, samples)))
        fresh.replace(path)
