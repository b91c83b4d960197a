"""Write output that was collected elsewhere: a file of its own for each attempt."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from weft.core.attempt_key import AttemptKey
from weft.core.log_location import LogLocation
from weft.wire.log_format import Piece, count_pieces, encode_piece, own_path, read_pieces
from weft.wire.plain_files import open_plain
from weft.wire.usage_format import UsageSample, encode_sample, usage_path


class FileLogWriter:
    """Append to attempt files; see the port for the methods. An attempt has one writer."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def append(self, key: AttemptKey, pieces: Sequence[Piece], *, after: int) -> None:
        """Append the pieces that are not stored yet."""
        await asyncio.to_thread(self._append, key, pieces, after)

    async def keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        """Write the file of the samples anew."""
        await asyncio.to_thread(self._keep_samples, key, samples)

    async def finish(self, key: AttemptKey) -> LogLocation | None:
        """Return nothing: the attempt alone identifies the file."""
        del key
        return None

    def _append(self, key: AttemptKey, pieces: Sequence[Piece], after: int) -> None:
        path = own_path(self._root, key.batch_id, key.job_id, key.attempt)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "a+b", opener=open_plain) as file:
            file.seek(0)
            stored = sum(map(count_pieces, read_pieces(file)))
            file.truncate(file.tell())  # a piece that an earlier writer could not finish
            file.write(
                b"".join(encode_piece(*piece) for piece in pieces[max(0, stored - after) :])
            )

    def _keep_samples(self, key: AttemptKey, samples: Sequence[UsageSample]) -> None:
        path = Path(usage_path(own_path(self._root, key.batch_id, key.job_id, key.attempt)))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = path.with_name(f"{path.name}~")
        with open(fresh, "wb", opener=open_plain) as file:
            file.write(b"".join(map(encode_sample, samples)))
        fresh.replace(path)
