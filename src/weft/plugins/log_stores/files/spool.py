"""Keep the output of workers outside: their files, as they wrote them, a directory for each.

Checkpoints in the spool: one packed directory of a job, beside the output of its attempts.

It lies in the folder of the worker that brought it, where it counts and is removed as output is;
the next attempt may be another worker's, so it is looked for in all folders.
"""

import hashlib
import os
import re
import shutil
import struct
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from weft.core.errors import NO_SPACE, DiskFull, SpoolFull
from weft.core.states import AttemptKey
from weft.plugins.log_stores.files import spooled_files
from weft.plugins.log_stores.files.spooled_files import PREFIX
from weft.ports.checkpoints import CheckpointFound
from weft.ports.spool import Spooled, SpoolLimits
from weft.telemetry.log import log
from weft.wire.log_format import arriving_path, attempt_of, checkpoint_path, own_path
from weft.wire.usage_format import usage_path

_PIECE_BYTES: Final = 1 << 20
_DIGEST_BYTES: Final = hashlib.sha256().digest_size
_HEAD: Final = struct.Struct(f"!{_DIGEST_BYTES}sQ")
"""SHA-256 and length of the pack, as its first part said."""


class Room(Protocol):
    """Counts what a folder holds."""

    def check(self, folder: str, batch_id: int, n_bytes: int, *, used: int = 0) -> None:
        """Raise `SpoolFull` or `DiskFull` if there is no room for these bytes of an attempt that
        has `used`.
        """

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


_SEGMENT = re.compile(r"segments/[0-9]{8}")
_BATCH = re.compile(r"attempts/b[1-9][0-9]{0,17}")
_FOLDER = re.compile(r"[0-9a-f]{32}")
_SIZES_KEPT = 10_000
_FILE_BYTES = 512
"""A file counts as at least this: nobody makes millions of short ones."""
_OWNER = "owner"
_USAGE = usage_path("")


class _Kept:
    """How much one folder holds."""

    def __init__(self, n_bytes: int, owner: str) -> None:
        self.lock = threading.Lock()
        self.n_bytes = n_bytes
        self.owner = owner
        """What its folders have in common; empty: it is not known."""
        self.attempts: OrderedDict[str, int] = OrderedDict()
        """By the path of the first part; the most recently written."""


@contextmanager
def _without_space() -> Iterator[None]:
    """Raise `DiskFull` for what the disk refuses."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_SPACE:
            raise
        raise _disk_full() from error


class FileSpool:
    """Writes below the directory that the api reads; see the port for the methods.

    What a worker sends names files of its own directory only, and nothing but output: it may be a
    stranger's.
    """

    def __init__(
        self,
        root: Path,
        limits: SpoolLimits,
        on_written: Callable[[str, str], None] = lambda _folder, _path: None,
    ) -> None:
        """`on_written(folder, path)` is told, in a thread, that a file has grown."""
        self._root = root
        self._limits = limits
        self._on_written = on_written
        self._kept: dict[str, _Kept] = {}
        self._refused: frozenset[int] = frozenset()
        self.is_disk_full = False
        self._segments = spooled_files.SegmentSums()
        self._checkpoints = SpooledCheckpoints(root, self)

    @_without_space()
    def begin(self, folder: str, owner: str) -> None:
        name = self._directory(folder) / _OWNER
        if not name.exists():
            _write_anew(name, owner)
            if (kept := self._kept.get(folder)) is not None:
                kept.owner = owner

    @_without_space()
    def write(self, folder: str, path: str, offset: int, data: bytes) -> int:
        """Write a part of a file."""
        key = attempt_of(path)
        is_other = is_checkpoint(path) if key else not _SEGMENT.fullmatch(path)
        if is_other or offset < 0:
            raise ValueError(f"{path[:80]!r} is no file of output")
        directory = self._directory(folder)
        file, kept = directory / path, self._kept_in(folder)
        with kept.lock:
            if not data:
                return file.lstat().st_size if file.exists() else 0
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                size = os.fstat(handle).st_size
                if path.endswith(_USAGE) and offset == 0:  # it is written anew
                    os.ftruncate(handle, 0)
                    kept.n_bytes, size = kept.n_bytes - size, 0
                if offset > size or not (data := data[size - offset :]):
                    return size
                own = None if key is None else _own(directory, key)
                used = 0 if own is None else self._used_by(kept, own)
                try:
                    charged = len(data) if size else max(len(data), _FILE_BYTES)
                    self._check_room(kept, used, None if key is None else key.batch_id, charged)
                except (SpoolFull, DiskFull) as error:
                    if not size:
                        file.unlink()
                    if key is not None:
                        spooled_files.note_gone(directory, key.batch_id, error.detail)
                    raise
                n_bytes = os.pwrite(handle, data, size)
            finally:
                os.close(handle)
            kept.n_bytes += n_bytes
            if own is not None:
                kept.attempts[str(own)] = used + charged
        self._on_written(folder, path)
        return size + n_bytes

    def remove(self, folder: str, paths: Sequence[str]) -> None:
        """Remove files or batches."""
        for path in paths:
            if attempt_of(path) is None and not _BATCH.fullmatch(path):
                raise ValueError(f"{path[:80]!r} is neither a file of output nor a batch")
        directory, kept = self._directory(folder), self._kept_in(folder)
        for path in paths:
            with kept.lock:
                if (key := attempt_of(path)) is None:
                    kept.n_bytes -= _remove_batch(directory, int(path.rpartition("b")[2]))
                else:
                    kept.attempts.pop(str(_own(directory, key)), None)
                    kept.n_bytes -= _remove_file(directory / path)

    def look(self) -> Iterator[Spooled]:
        for directory in sorted(self._root.glob(f"{spooled_files.PREFIX}*/")):
            folder, n_bytes = directory.name.removeprefix(spooled_files.PREFIX), 0
            for batch_id, one in spooled_files.sums_of(directory, self._segments).items():
                n_bytes += one.n_bytes
                yield Spooled(
                    folder,
                    batch_id,
                    one.job_id,
                    one.n_bytes,
                    one.oldest,
                    one.newest,
                    tuple(sorted(one.checkpoints)),
                )
            with self._kept_in(folder).lock:
                self._kept_in(folder).n_bytes = n_bytes

    def forget(self, batch_ids: Collection[int]) -> int:
        gone, n_bytes = frozenset(batch_ids), 0
        for directory in self._root.glob(f"{spooled_files.PREFIX}*/"):
            n_bytes += sum(_remove_batch(directory, one) for one in gone)
            n_bytes += spooled_files.erase_records(
                directory, None, lambda batch_id, _: batch_id in gone
            )
        return n_bytes

    def remove_folder(self, folder: str) -> int:
        directory, kept = self._directory(folder), self._kept_in(folder)
        with kept.lock:
            n_bytes, kept.n_bytes = kept.n_bytes, 0
            kept.attempts.clear()
            shutil.rmtree(directory, ignore_errors=True)
        return n_bytes

    def jobs_of(self, spooled: Spooled, *, before: float | None) -> Sequence[int]:
        directory = self._directory(spooled.folder)
        found = {job for job, _, _ in spooled_files.files_of(directory, spooled.batch_id, before)}
        for segment in spooled_files.segments_of(directory, before):
            found |= self._segments.jobs_of(segment, spooled.batch_id)
        return sorted(found)

    def drop(
        self, spooled: Spooled, is_meant: Callable[[int], bool], *, before: float | None, why: str
    ) -> int:
        directory, batch_id, n_bytes = self._directory(spooled.folder), spooled.batch_id, 0
        spooled_files.note_gone(directory, batch_id, why)
        for job, path, _ in spooled_files.files_of(directory, batch_id, before):
            if is_meant(job):
                n_bytes += _remove_file(path)
        return n_bytes + spooled_files.erase_records(
            directory, before, lambda batch, job: batch == batch_id and is_meant(job)
        )

    def refuse(self, batch_ids: Collection[int]) -> None:
        self._refused = frozenset(batch_ids)

    @_without_space()
    def write_checkpoint(
        self, folder: str, key: AttemptKey, offset: int, data: bytes, found: CheckpointFound
    ) -> int:
        return self._checkpoints.write(self._directory(folder), key, offset, data, found)

    def find_checkpoint(self, batch_id: int, job_id: int) -> CheckpointFound | None:
        return self._checkpoints.find(batch_id, job_id)

    def read_checkpoint(self, batch_id: int, job_id: int, offset: int, n_bytes: int) -> bytes:
        return self._checkpoints.read(batch_id, job_id, offset, n_bytes)

    def forget_checkpoints(self, jobs: Collection[tuple[int, int]]) -> int:
        return self._checkpoints.forget(jobs)

    def check(self, folder: str, batch_id: int, n_bytes: int, *, used: int = 0) -> None:
        kept = self._kept_in(folder)
        with kept.lock:
            self._check_room(kept, used, batch_id, n_bytes)

    def charge(self, folder: str, batch_id: int, n_bytes: int, *, used: int = 0) -> None:
        kept = self._kept_in(folder)
        with kept.lock:
            if n_bytes > 0:
                self._check_room(kept, used, batch_id, n_bytes)
            kept.n_bytes += n_bytes

    def _check_room(self, kept: _Kept, used: int, batch_id: int | None, n_bytes: int) -> None:
        """Raise `SpoolFull`, `DiskFull`."""
        limits = self._limits
        if used + n_bytes > limits.attempt_bytes_max:
            raise _full(f"One attempt may have {limits.attempt_bytes_max} bytes there.")
        of_worker = kept.n_bytes
        if kept.owner:
            of_worker = sum(
                one.n_bytes for one in list(self._kept.values()) if one.owner == kept.owner
            )
        if of_worker + n_bytes > limits.worker_bytes_max:
            raise _full(f"One worker may have {limits.worker_bytes_max} bytes there.")
        if batch_id in self._refused:
            raise _full(f"The jobs of one tenant may have {limits.tenant_bytes_max} bytes there.")
        if self._free_bytes() - n_bytes < limits.free_bytes_min:
            raise _disk_full()

    def look_at_disk(self) -> None:
        free, was_full = self._free_bytes(), self.is_disk_full
        self.is_disk_full = free < self._limits.free_bytes_min
        if self.is_disk_full and not was_full:
            log.warning("spool.disk_full", directory=str(self._root), free_bytes=free)
        if was_full and not self.is_disk_full:
            log.info("spool.disk_free")

    def _free_bytes(self) -> int:
        disk = os.statvfs(self._root)
        return disk.f_bavail * disk.f_frsize

    def _used_by(self, kept: _Kept, own: Path) -> int:
        found = kept.attempts.pop(str(own), None)
        if found is None:
            found = 0
            with os.scandir(own.parent) as entries:
                for entry in entries:
                    is_own = entry.name == own.name or entry.name.startswith(f"{own.name}.")
                    if is_own and not is_checkpoint(entry.name):
                        size = entry.stat(follow_symlinks=False).st_size
                        found += max(size, _FILE_BYTES) if size else 0
            while len(kept.attempts) >= _SIZES_KEPT:
                kept.attempts.popitem(last=False)
        kept.attempts[str(own)] = found
        return found

    def _kept_in(self, folder: str) -> _Kept:
        if folder not in self._kept:
            directory, owner = self._directory(folder), ""
            sums = spooled_files.sums_of(directory, self._segments)
            with suppress(FileNotFoundError):
                owner = (directory / _OWNER).read_text()
            kept = _Kept(sum(one.n_bytes for one in sums.values()), owner)
            self._kept.setdefault(folder, kept)
        return self._kept[folder]

    def _directory(self, folder: str) -> Path:
        if not _FOLDER.fullmatch(folder):
            raise ValueError(f"{folder[:80]!r} is not the name of a directory")
        directory = self._root / f"{spooled_files.PREFIX}{folder}"
        name = directory / "place"
        if not name.exists():
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_anew(name, folder)
        return directory


def _write_anew(file: Path, text: str) -> None:
    fresh = file.with_name(f"{file.name}.{os.urandom(8).hex()}")
    fresh.write_text(text)
    fresh.replace(file)


def _own(directory: Path, key: AttemptKey) -> Path:
    return own_path(directory, key.batch_id, key.job_id, key.attempt)


def _remove_batch(directory: Path, batch_id: int) -> int:
    n_bytes = sum(size for _, path, size in spooled_files.files_of(directory, batch_id, None))
    shutil.rmtree(directory / "attempts" / f"b{batch_id}", ignore_errors=True)
    return n_bytes


def _remove_file(path: Path) -> int:
    with suppress(FileNotFoundError):
        n_bytes = path.lstat().st_size
        path.unlink()
        return n_bytes
    return 0


def _full(why: str) -> SpoolFull:
    return SpoolFull(
        "the server keeps no more of this output",
        detail=why,
        hint="Raise `spool_attempt_bytes_max`, `spool_worker_bytes_max` or "
        "`spool_tenant_bytes_max` of the api, or delete batches.",
    )


def _disk_full() -> DiskFull:
    return DiskFull(
        "the server keeps no output now",
        detail="The disk of the server is full, or nearly so (`spool_free_bytes_min`).",
    )
