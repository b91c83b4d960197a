"""Checkpoints in the spool: one packed directory of a job, beside the output of its attempts.

It lies in the folder of the worker that brought it, where it counts and is removed as output is;
the next attempt may be another worker's, so it is looked for in all folders.
"""

import hashlib
import os
import struct
import threading
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from weft.core.states import AttemptKey
from weft.plugins.log_stores.files.spooled_files import PREFIX
from weft.ports.checkpoints import CheckpointFound
from weft.wire.log_format import arriving_path, attempt_of, checkpoint_path, own_path

_PIECE_BYTES: Final = 1 << 20
_DIGEST_BYTES: Final = hashlib.sha256().digest_size
_HEAD: Final = struct.Struct(f"!{_DIGEST_BYTES}sQ")
"""SHA-256 and length of the pack, as its first part said."""


class Room(Protocol):
    """Counts what a folder holds."""

    def check(self, folder: str, batch_id: int, n_bytes: int, *, used: int = 0) -> None:
        """Raise `SpoolFull` if there is no room for these bytes of an attempt that has `used`."""

    def charge(self, folder: str, batch_id: int, n_bytes: int, *, used: int = 0) -> None:
        """Check and count bytes that come, or (less than 0) that are gone."""


class SpooledCheckpoints:
    """What the spool does with checkpoints; see the port. A file is its head, then the pack."""

    def __init__(self, root: Path, room: Room) -> None:
        self._root = root
        self._room = room
        self._lock = threading.Lock()

    def write(
        self, directory: Path, key: AttemptKey, offset: int, data: bytes, found: CheckpointFound
    ) -> int:
        """Write a part; see the port. What the first part said of the whole holds for all."""
        if len(found.digest) != _DIGEST_BYTES or not 0 <= offset <= found.n_bytes - len(data):
            raise ValueError("no checkpoint has such a part")
        own = own_path(directory, key.batch_id, key.job_id, key.attempt)
        with self._lock:
            others = list(self._of(key.batch_id, key.job_id))
            if any(_attempt_of(path) > key.attempt for path in others):
                raise ValueError("a later attempt of the job has a checkpoint")
            if not offset:
                self._begin(directory, key, found, arriving_path(own))
            return self._append(directory, key, offset, data, found)

    def _begin(
        self, directory: Path, key: AttemptKey, found: CheckpointFound, arriving: Path
    ) -> None:
        folder = _folder_of(directory)
        with suppress(FileNotFoundError):
            before = arriving.stat().st_size
            arriving.unlink()
            self._room.charge(folder, key.batch_id, -before)
        self._room.check(folder, key.batch_id, found.n_bytes)
        self._room.charge(folder, key.batch_id, _HEAD.size)
        arriving.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(arriving, flags, 0o600), "wb") as file:
            file.write(_HEAD.pack(found.digest, found.n_bytes))

    def _append(
        self, directory: Path, key: AttemptKey, offset: int, data: bytes, found: CheckpointFound
    ) -> int:
        folder = _folder_of(directory)
        own = own_path(directory, key.batch_id, key.job_id, key.attempt)
        arriving = arriving_path(own)
        try:
            fd = os.open(arriving, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            return 0
        with os.fdopen(fd, "r+b", buffering=0):
            if os.pread(fd, _HEAD.size, 0) != _HEAD.pack(found.digest, found.n_bytes):
                raise ValueError("its first part said another size or digest")
            size = os.fstat(fd).st_size - _HEAD.size
            if offset != size:
                return size
            self._room.charge(folder, key.batch_id, len(data), used=size)
            size += os.pwrite(fd, data, size + _HEAD.size)
            if size < found.n_bytes:
                return size
            if _digest_of(fd) != found.digest:
                arriving.unlink()
                self._room.charge(folder, key.batch_id, -size - _HEAD.size)
                raise ValueError("its digest is another one")
            os.fsync(fd)
        before = [
            (path, _folder_of(path.parents[3]), path.stat().st_size)
            for path in self._of(key.batch_id, key.job_id)
            if path != arriving
        ]
        kept = checkpoint_path(own)
        arriving.rename(kept)
        for path, of, n_bytes in before:
            self._room.charge(of, key.batch_id, -n_bytes)
            if path != kept:
                path.unlink(missing_ok=True)
        return size

    def find(self, batch_id: int, job_id: int) -> CheckpointFound | None:
        """Return the newest; a crash may have left an older one, too."""
        for path in self._newest(batch_id, job_id):
            with path.open("rb") as file:
                digest, n_bytes = _HEAD.unpack(file.read(_HEAD.size))
                return CheckpointFound(_attempt_of(path), n_bytes, digest)
        return None

    def read(self, batch_id: int, job_id: int, offset: int, n_bytes: int) -> bytes:
        """Return a part; see the port."""
        for path in self._newest(batch_id, job_id):
            with path.open("rb") as file:
                return os.pread(file.fileno(), n_bytes, _HEAD.size + max(0, offset))
        return b""

    def forget(self, jobs: Collection[tuple[int, int]]) -> int:
        """Remove those of jobs; see the port."""
        n_bytes = 0
        with self._lock:
            for batch_id, job_id in jobs:
                for path in self._of(batch_id, job_id):
                    with suppress(FileNotFoundError):
                        n_bytes += path.stat().st_size
                        path.unlink()
        return n_bytes

    def _newest(self, batch_id: int, job_id: int) -> list[Path]:
        kept = (path for path in self._of(batch_id, job_id) if path.name.endswith(".checkpoint"))
        return sorted(kept, key=_attempt_of, reverse=True)[:1]

    def _of(self, batch_id: int, job_id: int) -> Iterator[Path]:
        """Yield what belongs to a job, also what has not arrived."""
        for directory in self._root.glob(f"{PREFIX}*/"):
            own = own_path(directory, batch_id, job_id, 0)
            name = own.name.removesuffix("0")
            for kind in ("checkpoint", "arriving"):
                yield from own.parent.glob(f"{name}*.{kind}")


def _folder_of(directory: Path) -> str:
    return directory.name.removeprefix(PREFIX)


def is_checkpoint(path: str) -> bool:
    """Say whether a file of an attempt is no output."""
    return path.endswith((".checkpoint", ".arriving"))


def _attempt_of(path: Path) -> int:
    key = attempt_of("/".join(path.parts[-4:]))
    return 0 if key is None else key.attempt


def _digest_of(fd: int) -> bytes:
    found, offset = hashlib.sha256(), _HEAD.size
    while piece := os.pread(fd, _PIECE_BYTES, offset):
        found.update(piece)
        offset += len(piece)
    return found.digest()
