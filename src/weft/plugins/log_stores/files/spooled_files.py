"""Files of workers outside, in one directory of the spool: what there is, and how it is removed.

Segments hold short outputs of many batches, and the worker appends to the last one. So a record is
erased where it stands: its bytes are overwritten, and its header says that it is gone.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from weft.wire.log_format import RECORD, RECORD_MAGIC, attempt_of, names_job

PREFIX = "spool-"
"""Of the names of such directories."""
_GONE_MAGIC = b"gone"
_GONE = "gone"
"""The file that says why output of a batch is not there; workers cannot name it."""
_BLOCK = bytes(1 << 16)


@dataclass
class Sum:
    """What there is of one batch: see `Spooled`."""

    job_id: int
    n_bytes: int = 0
    oldest: float = float("inf")
    newest: float = 0.0
    checkpoints: set[int] = field(default_factory=set)

    def add(self, n_bytes: int, written: float) -> None:
        """Count a file, or the records of a segment."""
        self.n_bytes += n_bytes
        self.oldest, self.newest = min(self.oldest, written), max(self.newest, written)


class _Record(NamedTuple):
    offset: int
    magic: bytes
    batch_id: int
    job_id: int
    n_bytes: int


class SegmentSums:
    """The sums of segments, read once for each of their sizes."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], dict[int, tuple[int, int]]]] = {}

    def of(self, segment: Path) -> dict[int, tuple[int, int]]:
        """Return for each batch one of its jobs, and its bytes."""
        try:
            found = segment.stat()
        except FileNotFoundError:
            self._known.pop(segment, None)
            return {}
        state = (found.st_size, found.st_mtime_ns)
        known = self._known.get(segment)
        if known is None or known[0] != state:
            sums: dict[int, tuple[int, int]] = {}
            with segment.open("rb") as file:
                for record in _records(file, found.st_size):
                    if record.magic == RECORD_MAGIC:
                        job, n_bytes = sums.get(record.batch_id, (record.job_id, 0))
                        sums[record.batch_id] = job, n_bytes + RECORD.size + record.n_bytes
            known = self._known[segment] = state, sums
        return known[1]

    def jobs_of(self, segment: Path, batch_id: int) -> set[int]:
        """Return the jobs of a batch that have a record."""
        if batch_id not in self.of(segment):
            return set()
        with segment.open("rb") as file:
            return {
                record.job_id
                for record in _records(file, segment.stat().st_size)
                if record.magic == RECORD_MAGIC and record.batch_id == batch_id
            }


def sums_of(directory: Path, segments: SegmentSums) -> dict[int, Sum]:
    """Return what there is of each batch; as batch 0, what is nobody's any more."""
    found: dict[int, Sum] = {0: Sum(0)}
    with suppress(FileNotFoundError):
        found[0].add(0, (directory / "place").stat().st_mtime)
    with suppress(FileNotFoundError):
        for entry in list(os.scandir(directory / "attempts")):
            if entry.name[1:].isdigit():
                batch_id = int(entry.name[1:])
                for job, path, size in files_of(directory, batch_id, None):
                    with suppress(FileNotFoundError):
                        written = path.lstat().st_mtime
                        found.setdefault(batch_id, Sum(job)).add(size, written)
                        if path.suffix in {".checkpoint", ".arriving"}:
                            found[batch_id].checkpoints.add(job)
    for segment in segments_of(directory):
        with suppress(FileNotFoundError):
            entry_of, rest = segment.stat(), segment.stat().st_size
            for batch_id, (job, n_bytes) in segments.of(segment).items():
                found.setdefault(batch_id, Sum(job)).add(n_bytes, entry_of.st_mtime)
                rest -= n_bytes
            found[0].add(max(0, rest), entry_of.st_mtime)
    return found


def files_of(
    directory: Path, batch_id: int, before: float | None
) -> Iterator[tuple[int, Path, int]]:
    """Yield files of a batch's attempts that were written before a moment: job, path, length."""
    for top, _, names in os.walk(directory / "attempts" / f"b{batch_id}"):
        for name in names:
            path = Path(top, name)
            key = attempt_of(str(path.relative_to(directory)))
            if key is None:
                continue
            with suppress(FileNotFoundError):
                found = path.lstat()
                if before is None or found.st_mtime < before:
                    yield key.job_id, path, found.st_size


def segments_of(directory: Path, before: float | None = None) -> list[Path]:
    """Return the segments that were written before a moment, in order."""
    paths = []
    with suppress(FileNotFoundError):
        for path in (directory / "segments").iterdir():
            with suppress(FileNotFoundError):
                if before is None or path.stat().st_mtime < before:
                    paths.append(path)
    return sorted(paths)


def erase_records(
    directory: Path, before: float | None, is_meant: Callable[[int, int], bool]
) -> int:
    """Overwrite the records of jobs, by batch and job, in segments that were written before a
    moment; return how many bytes they had. A segment without any others is removed, unless it is
    the last one.
    """
    n_bytes, last = 0, segments_of(directory)[-1:]
    for segment in segments_of(directory, before):
        with suppress(FileNotFoundError):
            erased, is_empty = _erase(segment, is_meant)
            n_bytes += erased
            if is_empty and [segment] != last:
                segment.unlink()
    return n_bytes


def _erase(segment: Path, is_meant: Callable[[int, int], bool]) -> tuple[int, bool]:
    n_bytes, n_left = 0, 0
    with segment.open("r+b") as file:
        found = os.fstat(file.fileno())
        for record in list(_records(file, found.st_size)):
            if record.magic != RECORD_MAGIC:
                continue
            if not is_meant(record.batch_id, record.job_id):
                n_left += 1
                continue
            file.seek(record.offset)
            file.write(_GONE_MAGIC)
            file.seek(record.offset + RECORD.size)
            for begin in range(0, record.n_bytes, len(_BLOCK)):
                file.write(_BLOCK[: record.n_bytes - begin])
            n_bytes += RECORD.size + record.n_bytes
        file.flush()
        if n_bytes:  # the time says when the worker wrote last; another one says that it changed
            os.utime(file.fileno(), ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    return n_bytes, not n_left


def note_gone(directory: Path, batch_id: int, why: str) -> None:
    """Remember why output of a batch is not there."""
    file = directory / "attempts" / f"b{batch_id}" / _GONE
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = file.with_suffix(f".{os.urandom(8).hex()}")
    fresh.write_text(why)
    fresh.replace(file)


def why_gone(directory: Path, batch_id: int) -> str | None:
    """Return what was noted."""
    try:
        return (directory / "attempts" / f"b{batch_id}" / _GONE).read_text()
    except FileNotFoundError:
        return None


def _records(file: BinaryIO, size: int) -> Iterator[_Record]:
    """Yield the records of a segment, up to one that is not whole, or is none."""
    offset = 0
    while offset + RECORD.size <= size:
        file.seek(offset)
        header = file.read(RECORD.size)
        if len(header) < RECORD.size:
            return
        magic, batch_id, job_id, _, n_bytes = RECORD.unpack(header)
        end = offset + RECORD.size + n_bytes
        if magic not in {RECORD_MAGIC, _GONE_MAGIC} or end > size:
            return
        if not names_job(batch_id, job_id):
            return
        yield _Record(offset, magic, batch_id, job_id, n_bytes)
        offset = end
