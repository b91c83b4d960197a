"""The port `spool`: where the api keeps the output of workers outside.

Each has a folder, by the name of its `log_place`. All calls block: make them in threads.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from weft.core.states import AttemptKey
from weft.ports.checkpoints import CheckpointFound


@dataclass(frozen=True, kw_only=True)
class SpoolLimits:
    """How much is kept, and for how long."""

    attempt_bytes_max: int
    worker_bytes_max: int
    tenant_bytes_max: int
    free_bytes_min: int
    """Nothing is taken while the disk has less room than this."""
    keep_s: float | None
    """None: until the batch is deleted."""


class Spooled(NamedTuple):
    """What one folder holds of one batch."""

    folder: str
    batch_id: int
    """0: what belongs to no batch, and the folder itself."""
    job_id: int
    """One of its jobs, if a worker is to be believed that has written this."""
    n_bytes: int
    oldest: float
    newest: float
    """When its files were written, by the clock of this host."""
    checkpoints: tuple[int, ...] = ()
    """The jobs of which it holds a checkpoint."""


class Spool(Protocol):
    """Output of workers outside, as they wrote it."""

    is_disk_full: bool
    """Whether the disk had too little room for more at the last look; nobody waits for this."""

    def begin(self, folder: str, owner: str) -> None:
        """Make a folder, so that readers find it before anything is written there. Those of one
        owner count together as one worker's.
        """

    def write(self, folder: str, path: str, offset: int, data: bytes) -> int:
        """Do as `LinkCalls.write_log` says, below one folder. What is kept already is not changed.
        Raise `ValueError` for a path that no output has, `SpoolFull`, `DiskFull`.
        """

    def look_at_disk(self) -> None:
        """Look whether the disk has room for more; log when that changes. One thread at a time."""

    def remove(self, folder: str, paths: Sequence[str]) -> None:
        """Forget files, or batches. Raise `ValueError` as above."""

    def look(self) -> Iterator[Spooled]:
        """Yield what is kept, and count it anew."""

    def forget(self, batch_ids: Collection[int]) -> int:
        """Remove all output of these batches; return how many bytes that was."""

    def remove_folder(self, folder: str) -> int:
        """Remove a folder with all that it holds; return how many bytes that was."""

    def jobs_of(self, spooled: Spooled, *, before: float | None) -> Sequence[int]:
        """Return the jobs of which something was written before a moment (None: ever)."""

    def drop(
        self, spooled: Spooled, is_meant: Callable[[int], bool], *, before: float | None, why: str
    ) -> int:
        """Remove the output of jobs, as far as it was written before a moment, and remember why;
        return how many bytes that was.
        """

    def refuse(self, batch_ids: Collection[int]) -> None:
        """Take nothing of these batches until the next call."""

    def write_checkpoint(
        self, folder: str, key: AttemptKey, offset: int, data: bytes, found: CheckpointFound
    ) -> int:
        """Do as `LinkCalls.write_checkpoint` says, below one folder. Raise `ValueError` if it is
        not what it was said to be, `SpoolFull`, `DiskFull`.
        """

    def find_checkpoint(self, batch_id: int, job_id: int) -> CheckpointFound | None:
        """Return what is kept of a job, in whichever folder."""

    def read_checkpoint(self, batch_id: int, job_id: int, offset: int, n_bytes: int) -> bytes:
        """Return a part of it; nothing behind its end."""

    def forget_checkpoints(self, jobs: Collection[tuple[int, int]]) -> int:
        """Remove those of these jobs, by batch; return how many bytes that was."""
