"""Files that jobs of workers outside have left: they are here before anybody is told of them.

files/DATABASE/b7/.left-JOB-ATTEMPT/DIGEST.part   arrives
files/DATABASE/b7/.left-JOB-ATTEMPT/DIGEST        is whole
files/DATABASE/b7/DIGEST                          is recorded, as what other workers keep
"""

import asyncio
import fcntl
import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from weft.core.errors import NO_SPACE, DiskFull
from weft.core.states import AttemptKey
from weft.plugins.file_stores.weft import KeptFiles
from weft.ports.left_files import LeftFile
from weft.ports.store import KeptFile
from weft.ports.worker_link import LinkedStore
from weft_link.serving.keeping import asked_in_sets
from weft_link.serving.refusals import wrong_frame

_PIECE_BYTES: Final = 1 << 20
_OPEN: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class LinkedFiles:
    """Keeps what arrives. An attempt has at most `bytes_max`, and nothing is taken while the disk
    has less room than `free_bytes_min`.
    """

    def __init__(self, root: Path, bytes_max: int, free_bytes_min: int) -> None:
        self._root = root
        self._bytes_max = bytes_max
        self._free_bytes_min = free_bytes_min

    async def write(
        self, store: LinkedStore, key: AttemptKey, offset: int, data: bytes, file: LeftFile
    ) -> int:
        """Keep a part of a file of a live attempt; return how much of it is here. Raise
        `LinkFrameRefused`, `DiskFull`.
        """
        batch = self._root / await store.database_id() / f"b{key.batch_id}"
        return await asyncio.to_thread(self._write, batch, key, offset, data, file)

    async def place(self, store: LinkedStore, key: AttemptKey, files: Sequence[KeptFile]) -> None:
        """Give what is to be recorded its place. Raise `LinkFrameRefused` for what is not here."""
        batch = self._root / await store.database_id() / f"b{key.batch_id}"
        digests = [one.digest for one in files if one.address is None]
        await asyncio.to_thread(_place, batch, _left(batch, key), digests)

    async def remove_deleted(self, store: LinkedStore) -> None:
        """Remove what deleted batches have left."""
        kept = KeptFiles(self._root / await store.database_id())
        batches = await asyncio.to_thread(kept.batches)
        for batch_id in await asked_in_sets(batches, store.list_removed):
            await kept.remove(f"b{batch_id}")

    def _write(
        self, batch: Path, key: AttemptKey, offset: int, data: bytes, file: LeftFile
    ) -> int:
        name, left = file.digest.hex(), _left(batch, key)
        whole = left / name
        if whole.exists() or (batch / name).exists():
            return file.n_bytes
        if not 0 <= offset <= file.n_bytes - len(data):
            raise wrong_frame("no file has such a part")
        try:
            left.mkdir(mode=0o700, parents=True, exist_ok=True)
            fd = os.open(part := left / f"{name}.part", _OPEN, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)  # another file of the attempt may be the same
                if whole.exists():
                    return file.n_bytes
                return self._append(fd, part, offset, data, file)
            finally:
                os.close(fd)
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            raise _disk_full() from error

    def _append(self, fd: int, part: Path, offset: int, data: bytes, file: LeftFile) -> int:
        size = os.fstat(fd).st_size
        if offset != size:
            return min(size, file.n_bytes)
        others = sum(one.stat().st_size for one in part.parent.iterdir() if one != part)
        if others + file.n_bytes > self._bytes_max:
            raise wrong_frame(f"its attempt leaves more than {self._bytes_max} bytes of files")
        disk = os.statvfs(part.parent)
        if disk.f_bavail * disk.f_frsize - len(data) < self._free_bytes_min:
            raise _disk_full()
        size += os.pwrite(fd, data, size)
        if size < file.n_bytes:
            return size
        if _digest_of(fd) != file.digest:
            part.unlink()
            raise wrong_frame("a file has another digest than was said")
        os.fsync(fd)
        part.rename(part.with_suffix(""))
        return size


def _left(batch: Path, key: AttemptKey) -> Path:
    return batch / f".left-{key.job_id}-{key.attempt}"


def _place(batch: Path, left: Path, digests: Sequence[bytes]) -> None:
    for digest in digests:
        name = digest.hex()
        if (batch / name).exists():
            continue
        try:
            (left / name).rename(batch / name)
        except FileNotFoundError:
            raise wrong_frame(f"the file {name} was not brought here") from None
    if left.exists():
        directory = os.open(batch, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
        shutil.rmtree(left, ignore_errors=True)


def _digest_of(fd: int) -> bytes:
    found, offset = hashlib.sha256(), 0
    while piece := os.pread(fd, _PIECE_BYTES, offset):
        found.update(piece)
        offset += len(piece)
    return found.digest()


def _disk_full() -> DiskFull:
    return DiskFull(
        "the server keeps no files now",
        detail="The disk of the server is full, or nearly so (`spool_free_bytes_min`).",
    )
