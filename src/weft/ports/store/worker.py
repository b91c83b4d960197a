"""What a worker's agent asks, and what it reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from weft.core.log_location import LogLocation
from weft.core.offers import Offer


@dataclass(frozen=True, kw_only=True)
class ClaimRequest:
    """How much to claim, and what the worker knows of its earlier claims."""

    budget_cpu_m: int
    budget_memory_mib: int
    limit_jobs: int
    call: int = 0
    """Number of this claim, which no other claim of the incarnation has; 0: it is never
    confirmed."""
    hints: Mapping[int, int] = field(default_factory=dict)
    """By `Claimed.runnable_id`: the last job that was claimed of it. Only a hint."""


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
    chunk: bytes | None = field(default=None, compare=False)
    """The chunk, if the claim has brought it; else `get_chunks` does."""
    runnable_id: int = field(default=0, compare=False)
    """The range of jobs of which it was claimed; 0: none."""


@dataclass(frozen=True, kw_only=True)
class StartReport:
    """An attempt began to run, so many microseconds ago by a monotonic clock."""

    batch_id: int
    job_id: int
    attempt: int
    age_us: int


@dataclass(frozen=True, kw_only=True)
class PhaseReport:
    """An attempt entered a phase (`core.states.Phase`)."""

    batch_id: int
    job_id: int
    attempt: int
    phase: int


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
    location: LogLocation | None
    """Where the log store has put the output; None: it finds it by the attempt."""
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
    to_stop: Sequence[tuple[int, int, int]]
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
        offers: Mapping[str, Offer],
        version: str,
        same_host_proved_gone: bool,
    ) -> Registered:
        """Say that this worker is here. Repeats are harmless."""

    async def claim_jobs(self, incarnation_id: int, request: ClaimRequest) -> Sequence[Claimed]:
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

    async def record_phases(
        self, incarnation_id: int, reports: Sequence[PhaseReport]
    ) -> Sequence[str]:
        """Record what attempts are doing; per row `ok` or `stale`."""

    async def complete_attempts(
        self, incarnation_id: int, reports: Sequence[EndReport]
    ) -> Sequence[str]:
        """Record ends.

        Per row `ok` (also for a repeat) or `stale` (not its owner any more: forget it).
        """

    async def complete_and_claim(
        self, incarnation_id: int, reports: Sequence[EndReport], request: ClaimRequest
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        """Do both in one transaction, which costs little more than one of the two."""

    async def list_to_stop(
        self, incarnation_id: int, attempts: Sequence[tuple[int, int, int]]
    ) -> Sequence[tuple[int, int, int]]:
        """Return which of these (batch, job, attempt) must be stopped: they are cancelled, or
        this incarnation does not own them any more.

        Asked on each notice on `cancel`. Source: `list_cancelled.sql`.
        """

    async def heartbeat(
        self,
        incarnation_id: int,
        attempts: Sequence[tuple[int, int, int]],
        *,
        draining: bool,
        claiming: bool = False,
        heard: Sequence[int] = (),
    ) -> HeartbeatAnswer:
        """Say that the worker lives and which attempts it has; usage is rolled up.

        `attempts`: all that were claimed and whose end is not recorded, each one from the moment
        at which its claim returns. A lease that is missing is handed back, unless `claiming`: a
        claim is under way, whose attempts the list lacks.
        `heard`: numbers of claims whose replies have arrived (`ClaimRequest.call`).
        """

    async def leave(self, incarnation_id: int) -> None:
        """Say that the worker goes and has no attempts left; what it still has is lost at once."""
