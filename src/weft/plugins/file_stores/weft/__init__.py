"""Files that weft keeps itself, below its home: `b7/DIGEST`, each named by its SHA-256.

What jobs call their files stands in the database. So no name that a job chose becomes a path, the
same content is kept once in a batch, and a file that has its name is whole.
"""

import asyncio
import hashlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import Final

from weft.ports.file_store import FileDiffers, FileFacts, FileMissing, FileRefused, HeldFile

_PIECE_BYTES: Final = 1 << 20
_PATH: Final = re.compile(r"b([1-9][0-9]{0,17})/([0-9a-f]{64})")
_BATCH: Final = re.compile(r"b([1-9][0-9]{0,17})")
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def kept_path(batch_id: int, digest: bytes) -> str:
    """Return the path of a file of a batch."""
    return f"b{batch_id}/{digest.hex()}"


class KeptFiles:
    """The files below one directory; see the port for the methods."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def facts(self, path: str) -> FileFacts:
        with os.fdopen(await asyncio.to_thread(_opened, self._file(path))) as file:
            return FileFacts(os.fstat(file.fileno()).st_size)

    async def read(self, path: str, offset: int = 0) -> AsyncIterator[bytes]:
        fd = await asyncio.to_thread(_opened, self._file(path))
        try:
            while piece := await asyncio.to_thread(os.pread, fd, _PIECE_BYTES, offset):
                yield piece
                offset += len(piece)
        finally:
            os.close(fd)

    async def write(self, path: str, file: HeldFile) -> None:
        target = self._file(path)
        if target.name != file.digest.hex():
            raise FileRefused("a file is kept by its digest")
        await asyncio.to_thread(_keep, target, file)

    async def remove(self, path: str) -> None:
        """Remove a file, or all files of a batch (`b7`)."""
        if _BATCH.fullmatch(path):
            await asyncio.to_thread(self._remove_batch, path)
        else:
            await asyncio.to_thread(self._file(path).unlink, missing_ok=True)

    def batches(self) -> Sequence[int]:
        try:
            names = os.listdir(self._root)  # noqa: PTH208 (texts)
        except FileNotFoundError:
            return []
        return sorted(int(match[1]) for name in names if (match := _BATCH.fullmatch(name)))

    def _remove_batch(self, name: str) -> None:
        with suppress(FileNotFoundError):  # another worker of this home was faster
            shutil.rmtree(self._root / name)

    def _file(self, path: str) -> Path:
        if not _PATH.fullmatch(path):
            raise FileRefused("no file is kept under such a path")
        return self._root / path


def _keep(target: Path, file: HeldFile) -> None:
    """Write beside the others, and give the name to what is whole and on the disk."""
    if target.exists():
        return
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = target.parent / f".{os.urandom(8).hex()}"
    try:
        _copy(fresh, file)
        fresh.rename(target)
    finally:
        fresh.unlink(missing_ok=True)
    directory = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def _copy(fresh: Path, file: HeldFile) -> None:
    found, offset = hashlib.sha256(), 0
    with os.fdopen(os.open(fresh, _NEW, 0o600), "wb") as out:
        while offset < file.n_bytes and (piece := file.read(offset, _PIECE_BYTES)):
            found.update(piece)
            out.write(piece)
            offset += len(piece)
        if found.digest() != file.digest:
            raise FileDiffers("it was changed while it was kept")
        out.flush()
        os.fsync(out.fileno())


def _opened(file: Path) -> int:
    """Return its descriptor. Raise `FileMissing`, and `FileDiffers` for what is no plain file."""
    try:
        fd = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise _missing() from error
    if not S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise FileDiffers("it is no plain file")
    return fd


def _missing() -> FileMissing:
    return FileMissing("it is not kept on this host")
