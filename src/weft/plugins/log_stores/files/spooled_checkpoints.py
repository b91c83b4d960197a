"""Checkpoints in the spool: one packed directory of a job, beside the output of its attempts.

It lies in the folder of the worker that brought it, where it counts and is removed as output is;
the next attempt may be another worker's, so it is looked for in all folders.
"""

import hashlib
import os
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from weft.core.attempt_key import AttemptKey
from weft.plugins.log_stores.files.spooled_files import PREFIX
from weft.ports.checkpoints import CheckpointFound
from weft.wire.log_format import arriving_path, attempt_of, checkpoint_path, own_path

_PIECE_BYTES: Final = 1 << 20
_DIGEST_BYTES: Final = hashlib.sha256().digest_size


class SpooledCheckpoints:
    """What the spool does with checkpoints; see the port. A file is its digest, then the pack."""

    def __init__(self, root: Path, charge: Callable[[str, int, int], None]) -> None:
        """`charge(folder, batch, bytes)` counts what comes, or goes. Raises `SpoolFull`."""
        self._root = root
        self._charge = charge
        self._lock = threading.Lock()

    def write(
        self, directory: Path, key: AttemptKey, offset: int, data: bytes, found: CheckpointFound
    ) -> int:
        """Write a part; see the port."""
        if len(found.digest) != _DIGEST_BYTES or not 0 <= offset <= found.n_bytes - len(data):
            raise ValueError("no checkpoint has such a part")
        own = own_path(directory, key.batch_id, key.job_id, key.attempt)
        arriving = arriving_path(own)
        with self._lock:
            if not offset:
                self._charge(_folder_of(directory), key.batch_id, found.n_bytes)
                own.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | (0 if offset else os.O_CREAT)
            try:
                fd = os.open(arriving, flags, 0o600)
            except FileNotFoundError:
                return 0
            with os.fdopen(fd, "r+b", buffering=0) as file:
                if not offset:
                    file.truncate(0)
                    file.write(found.digest)
                size = os.fstat(fd).st_size - _DIGEST_BYTES
                if offset != size:
                    return max(0, size)
                size += os.pwrite(fd, data, size + _DIGEST_BYTES)
                if size < found.n_bytes:
                    return size
                if _digest_of(fd) != found.digest:
                    arriving.unlink()
                    raise ValueError("its digest is another one")
                os.fsync(fd)
            before = [
                (path, _folder_of(path.parents[3]), path.stat().st_size)
                for path in self._of(key.batch_id, key.job_id)
                if path != arriving
            ]
            kept = checkpoint_path(own)
            arriving.rename(kept)
            for path, folder, n_bytes in before:
                self._charge(folder, key.batch_id, -n_bytes)
                if path != kept:
                    path.unlink(missing_ok=True)
        return size

    def find(self, batch_id: int, job_id: int) -> CheckpointFound | None:
        """Return the newest; a crash may have left an older one, too."""
        for path in self._newest(batch_id, job_id):
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                return CheckpointFound(
                    _attempt_of(path), size - _DIGEST_BYTES, file.read(_DIGEST_BYTES)
                )
        return None

    def read(self, batch_id: int, job_id: int, offset: int, n_bytes: int) -> bytes:
        """Return a part; see the port."""
        for path in self._newest(batch_id, job_id):
            with path.open("rb") as file:
                return os.pread(file.fileno(), n_bytes, _DIGEST_BYTES + max(0, offset))
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
        kept = (one for one in self._of(batch_id, job_id) if one.name.endswith(".checkpoint"))
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
    found, offset = hashlib.sha256(), _DIGEST_BYTES
    while piece := os.pread(fd, _PIECE_BYTES, offset):
        found.update(piece)
        offset += len(piece)
    return found.digest()
