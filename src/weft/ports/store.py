"""The port `store`: what weft asks its database, by caller.

One method is one SQL function of the same name (`sql/functions/NAME.sql`, whose header gives locks
and plans). The
three callers log in as three database roles with different rights, so there are three protocols.
Errors are `WeftError`s; `Unavailable` means that the database cannot be reached now and the call
may be repeated.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import msgspec


@dataclass(frozen=True)
class Caller:
    """Who asks: a user of a tenant."""

    tenant_id: int
    user_id: int
    user_name: str
    is_admin: bool = False


# ------------------------------------------------------------------ api


class NewBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch to be created. All limits are checked already."""

    name: str | None = None
    billing_project: str = "default"
    attributes: Mapping[str, str] = {}
    callback: str | None = None
    cancel_after_n_failures: int | None = None
    max_running: int | None = None
    trace_id: str


class NewGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A tree group to be created in an update.

    Number within the batch, parent's number, one name.
    """

    group_id: int
    parent_id: int
    name: str
    attributes: Mapping[str, str] = {}
    cancel_after_n_failures: int | None = None
    callback: str | None = None


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A distinct request for resources.

    Jobs refer to shapes, because many jobs ask for the same.
    """

    cpu_m: int = 1000
    memory_mib: int = 512
    storage_mib: int = 0
    gpu: int = 0
    countables: tuple[tuple[str, int], ...] = ()
    """Sorted by name."""


@dataclass(kw_only=True)
class JobRows:
    """The jobs of one bunch in columns, in order of their numbers.

    The first is `first_job` (absolute).

    Lists of one element stand for "the same in all jobs". `parents` are absolute numbers, below
    the child's.
    """

    first_job: int
    n_jobs: int
    shapes: list[Shape]
    shape_index: list[int]
    group_id: list[int]
    priority: list[int]
    always_run: list[bool]
    max_attempts: list[int]
    retry_on: list[int]
    """Bit mask over `Reason` (1 << reason)."""
    edge_child: list[int] = field(default_factory=list)
    edge_parent: list[int] = field(default_factory=list)
    label_job: list[int] = field(default_factory=list)
    label_name: list[str | None] = field(default_factory=list)
    label_attributes: list[dict[str, str] | None] = field(default_factory=list)
    chunk_first: list[int] = field(default_factory=list)
    chunk_n: list[int] = field(default_factory=list)
    chunk_body: list[bytes] = field(default_factory=list)


@dataclass(frozen=True)
class Reserved:
    """What an update reserved: contiguous numbers from `first_*` on."""

    update_id: int
    first_job: int
    first_group: int
    n_jobs: int
    n_groups: int
    committed: bool


@dataclass(frozen=True)
class LogPlace:
    """Where the output of one attempt is kept (`wire/log_format.py`)."""

    batch_id: int
    job_id: int
    attempt: int
    ended: bool
    segment: int | None
    offset: int | None
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    state: str
    """The job's state now."""
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    message: str | None = None


Row = Mapping[str, Any]
"""A row as the SQL function returns it; the names are those of DESIGN section 8."""


class ApiStore(Protocol):
    """What the api may ask.

    Everything is seen through the caller's tenant; what it may not see does not exist.
    """

    async def ready(self) -> None:
        """Return if the database answers, else raise `Unavailable`."""

    async def authenticate(self, token: str) -> Caller | None:
        """Return who holds this token; `None` for an unknown or expired one."""

    async def create_batch(
        self, caller: Caller, new: NewBatch, *, idempotency_key: str | None, digest: bytes
    ) -> tuple[int, bool]:
        """Create an empty batch; return its number and whether it is new.

        Same key and digest: the number of before, False. Same key, another digest:
        `IdempotencyConflict`.
        """

    async def submit(
        self,
        caller: Caller,
        new: NewBatch | int,
        groups: Sequence[NewGroup],
        jobs: JobRows | None,
        *,
        idempotency_key: str | None,
        digest: bytes,
        trace_id: str,
    ) -> tuple[int, Reserved, bool]:
        """Create a batch (or take the batch of that number), add one update with these groups and
        jobs, commit it.

        One transaction. Numbers of groups, jobs and parents in `groups` and `jobs` are relative to
        the update: 1 is
        its first; references to earlier jobs are negative absolute numbers (-7 is j7), group 0 is
        the root, an
        earlier group is a negative number. Return the batch, what was reserved and whether it is
        new.
        """

    async def create_update(
        self,
        caller: Caller,
        batch_id: int,
        *,
        n_jobs: int,
        n_groups: int,
        idempotency_key: str | None,
        digest: bytes,
        trace_id: str,
    ) -> tuple[Reserved, bool]:
        """Reserve contiguous numbers for jobs and groups."""

    async def get_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Return what an update reserved. Raise `UpdateNotFound`."""

    async def add_groups(
        self, caller: Caller, batch_id: int, update_id: int, groups: Sequence[NewGroup]
    ) -> None:
        """Add tree groups to an open update.

        Numbers are relative as in `submit`. A repeat does nothing.
        """

    async def add_jobs(self, caller: Caller, batch_id: int, update_id: int, jobs: JobRows) -> bool:
        """Add a bunch to an open update.

        Numbers relative as in `submit`. A repeat of the same first job does nothing and returns
        False.
        """

    async def commit_update(self, caller: Caller, batch_id: int, update_id: int) -> Reserved:
        """Make the update visible and runnable.

        Repeat: same answer. Raise `UpdateIncomplete` with what is missing.
        """

    async def get_batch(self, caller: Caller, batch_id: int) -> Row:
        """Return the batch document (DESIGN section 8). Raise `BatchNotFound`."""

    async def list_batches(
        self, caller: Caller, *, before: int | None, limit: int, name: str | None
    ) -> Sequence[Row]:
        """Return batch documents, newest first, numbers below `before`.

        `name`: only those of exactly this name.
        """

    async def list_groups(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return group documents in order of their numbers above `after` (-1.

        From the root on).
        """

    async def get_group(self, caller: Caller, batch_id: int, group: int | str) -> Row:
        """Return one group document, by number or by path. Raise `GroupNotFound`."""

    async def list_jobs(
        self, caller: Caller, batch_id: int, *, after: int, limit: int, states: Sequence[int] = ()
    ) -> Sequence[Row]:
        """Return job documents in order of their numbers above `after`.

        Only those in `states`, if given.
        """

    async def get_job(self, caller: Caller, batch_id: int, job_id: int) -> Row:
        """Return the job document with `spec` (a `JobSpec`), `parents` and `times`.

        Raise `JobNotFound`.
        """

    async def get_specs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, Any]:
        """Return `JobSpec` by job number."""

    async def list_attempts(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return attempt documents, oldest first, the live one included."""

    async def job_history(self, caller: Caller, batch_id: int, job_id: int) -> Sequence[Row]:
        """Return history documents, oldest first."""

    async def log_places(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], attempt: int | None
    ) -> Sequence[LogPlace]:
        """Return where the output of these jobs is.

        Of this attempt, or of the last one that has started.
        """

    async def cancel_group(
        self, caller: Caller, batch_id: int, group_id: int, *, force: bool
    ) -> bool:
        """Cancel a group with all below (0.

        The batch). Return False if it was cancelled before.
        """

    async def cancel_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Cancel single jobs.

        Return per job `cancelled` (ended now), `cancelling` (its worker is told) or the word of
        the terminal state it has already. Raise `JobNotFound`.
        """

    async def events_now(self) -> tuple[int, int]:
        """Return the position after the newest event that readers may see."""

    async def list_events(
        self, caller: Caller, *, after: tuple[int, int], batch_id: int | None, limit: int
    ) -> tuple[Sequence[Row], tuple[int, int]]:
        """Return events after a position and the position reached, in the order of `Last-Event-
        ID`.

        Raise `EventsGone` if older events were removed already. Only events older than every open
        writer are given.
        """

    async def wait_for_events(self, *, waits: bool = True) -> bool:
        """Tell the writers whether somebody waits (call, then list once more, then await
        `notices`).

        Return whether committed events are withheld because an older writer is open: look again
        soon.
        """

    async def pool_limits(self, caller: Caller) -> Sequence[Row]:
        """Return `cpu_m, memory_mib, storage_mib, gpu, countables` of every known worker's
        capacity, largest first.
        """

    async def overview(self, caller: Caller) -> Row:
        """Return `workers: [...]`, `running`, `ready`, `pending` for `weft top` and metrics."""


# ------------------------------------------------------------------ worker


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """One attempt that this worker owns now."""

    batch_id: int
    job_id: int
    attempt: int
    cpu_m: int
    memory_mib: int
    storage_mib: int
    gpu: int
    chunk_first: int
    """Its spec is number `job_id - chunk_first` of that chunk."""


@dataclass(frozen=True, kw_only=True)
class StartReport:
    """An attempt began to run, so many microseconds ago by a monotonic clock."""

    batch_id: int
    job_id: int
    attempt: int
    age_us: int


@dataclass(frozen=True, kw_only=True)
class EndReport:
    """An attempt ended."""

    batch_id: int
    job_id: int
    attempt: int
    start_age_us: int | None
    """None: it never started."""
    end_age_us: int
    reason: int | None
    """`Reason`.

    None: success. PREEMPTED gives the job back to the queue (drain), without a start it is a lease
    handed back.
    """
    exit_code: int | None
    signal: int | None
    cpu_ms: int
    memory_peak_bytes: int
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    segment: int | None
    offset: int | None
    message: str


@dataclass(frozen=True, kw_only=True)
class Registered:
    """What the database knows of this worker after `register_worker`."""

    worker_id: int
    incarnation_id: int
    pool_id: int
    live: Sequence[Claimed]
    """Attempts of this very incarnation that the database holds for live.

    Adopt those that the spawner has, end the
    others. Attempts of older incarnations are ended as `lost` by the call."""


@dataclass(frozen=True, kw_only=True)
class HeartbeatAnswer:
    """What the worker must know."""

    alive: bool
    """False.

    The worker was declared lost; stop all its processes and register again with a new incarnation.
    """
    cancelled: Sequence[tuple[int, int, int]]
    """(batch, job, attempt) of this worker that must be stopped."""
    has_work: bool


class WorkerStore(Protocol):
    """What a worker's agent may ask."""

    async def register_worker(
        self,
        *,
        name: str,
        host: str,
        pool: str,
        incarnation: str,
        cpu_m: int,
        memory_mib: int,
        storage_mib: int,
        gpu: int,
        version: str,
        same_host_proved_gone: bool,
    ) -> Registered:
        """Say that this worker is here. Repeats are harmless."""

    async def claim_jobs(
        self, incarnation_id: int, *, budget_cpu_m: int, budget_memory_mib: int, limit_jobs: int
    ) -> Sequence[Claimed]:
        """Take ready jobs.

        Fair share, then priority, then age. The first may exceed the budget if the worker as a
        whole can hold it; after it the sums stay within. Empty: nothing to do, call
        `wait_for_work`.
        """

    async def get_chunks(
        self, batch_ids: Sequence[int], chunk_firsts: Sequence[int]
    ) -> Mapping[tuple[int, int], bytes]:
        """Return spec chunks by (batch, first job)."""

    async def wait_for_work(self, incarnation_id: int) -> bool:
        """Say that this worker waits.

        True: there is work, claim again; False: a notice on `work` will come.
        """

    async def start_attempts(
        self, incarnation_id: int, reports: Sequence[StartReport]
    ) -> Sequence[str]:
        """Record starts; per row `ok` or `stale`."""

    async def complete_attempts(
        self, incarnation_id: int, reports: Sequence[EndReport]
    ) -> Sequence[str]:
        """Record ends.

        Per row `ok` (also for a repeat) or `stale` (not its owner any more: forget it).
        """

    async def list_cancelled(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]]
    ) -> Sequence[tuple[int, int, int]]:
        """Return which of these (batch, job, attempt) must be stopped.

        Asked on each notice on `cancel`.
        """

    async def heartbeat(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]], *, draining: bool
    ) -> HeartbeatAnswer:
        """Say that the worker lives and which attempts it has; usage is rolled up.

        `attempts`: all that were claimed and whose end is not recorded. A lease that is missing is handed back.
        """

    async def leave(self, incarnation_id: int) -> None:
        """Say that the worker goes and has no attempts left; what it still has is lost at once."""


# ------------------------------------------------------------------ driver


class DriverStore(Protocol):
    """What a driver may ask.

    Every call carries the leader's epoch; a stale one raises `EpochStale`.
    """

    async def try_lead(self) -> int | None:
        """Try the leader's lock on the connection kept for it.

        Return the epoch of the new term, or None.
        """

    async def still_lead(self) -> bool:
        """Say whether the connection that holds the lock is alive; the driver's own heartbeat."""

    async def fold_deltas(self, epoch: int) -> int:
        """Fold what is visible into the sums, settle completions.

        Return how many deltas were folded.
        """

    async def sweep_cancelled(self, epoch: int, limit_jobs: int) -> int:
        """Settle jobs of cancelled groups and children of ended jobs in one bounded set.

        Return how many.
        """

    async def lose_workers(self, epoch: int, grace_s: float) -> Sequence[Row]:
        """End the attempts of workers that were silent longer than the grace."""

    async def next_due(self, epoch: int, grace_s: float) -> datetime | None:
        """Return when the next worker would be lost; None: there is no worker."""

    async def idle_driver(self, epoch: int) -> bool:
        """Say that this driver goes to sleep.

        False: there is something to do; True: a notice on `driver` will come.
        """

    async def remove_old(self, epoch: int, *, events_keep_s: float, updates_keep_s: float) -> int:
        """Remove events older than the retention and updates that were never committed."""


class Notices(Protocol):
    """LISTEN on one connection.

    Losing it raises `Unavailable` in the iterator; the caller listens again and looks once.
    """

    def listen(self, *channels: str) -> AsyncIterator[tuple[str, str]]:
        """Yield (channel, payload). The first item is ("", "") when listening has begun."""
