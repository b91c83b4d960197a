"""The calls and reports of a worker's agent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, Protocol

import msgspec
from msgspec import Meta

from weft.core.bounds import (
    ENTRIES_MAX,
    AttemptIds,
    Count,
    Digest,
    Entries,
    Integer,
    JobIds,
    Listed,
    LongNumber,
    Name,
    Number,
    PathText,
    ShortNumber,
    Signed,
    Text,
)
from weft.core.ends.conditions import Ask
from weft.core.notes import Note
from weft.core.scheduling.black_holes import AvoidedNode
from weft.core.scheduling.offers import Offers
from weft.core.states import AttemptKey, Command, PhaseNumber, ReasonNumber
from weft.ports.store.worker_files import (
    FileWanted,
    FoundFile,
    KeptFile,
    ProgressReport,
    StoredFileStore,
    StoredSecret,
)
from weft.wire.log_format import LOG_LOCATION_BYTES, LogLocation

Attempts = Annotated[Sequence[AttemptIds], Entries]
_Location = Annotated[
    LogLocation, Meta(min_length=LOG_LOCATION_BYTES, max_length=LOG_LOCATION_BYTES)
]


@dataclass(frozen=True, kw_only=True)
class ClaimRequest:
    """The size of a claim, and hints from the worker's earlier claims."""

    budget_cpu_m: Signed
    budget_memory_mib: Signed
    limit_jobs: Annotated[int, Meta(ge=0, le=ENTRIES_MAX)]
    call: LongNumber = 0
    """Number of this claim, unique in the incarnation; 0: the claim is never confirmed."""
    hints: Annotated[Mapping[LongNumber, Number], Entries] = field(default_factory=dict)
    """By `Claimed.runnable_id`: the last job claimed from that range. Only a hint."""
    passes: JobIds | None = None
    """For `claim_reserved`: a job (batch, number) that this worker has and that waits for room."""


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """An attempt that this worker owns now."""

    batch_id: int
    job_id: int
    attempt: int
    cpu_m: int
    memory_mib: int
    storage_mib: int
    gpu: int
    chunk_first: int
    """First job of its chunk; its spec is number `job_id - chunk_first` in the chunk."""
    chunk: bytes | None = field(default=None, compare=False)
    """The chunk, if the claim returned it; otherwise call `get_chunks`."""
    runnable_id: int = field(default=0, compare=False)
    """The range of jobs from which it was claimed; 0: none."""

    @property
    def key(self) -> AttemptKey:
        """Return which attempt it is."""
        return AttemptKey(self.batch_id, self.job_id, self.attempt)


@dataclass(frozen=True, kw_only=True)
class StartReport:
    """An attempt began to run `age_us` microseconds ago by a monotonic clock."""

    batch_id: LongNumber
    job_id: Number
    attempt: ShortNumber
    age_us: Signed


@dataclass(frozen=True, kw_only=True)
class PhaseReport:
    """An attempt entered a phase (`core.states.Phase`), or its engine says something new there."""

    batch_id: LongNumber
    job_id: Number
    attempt: ShortNumber
    phase: PhaseNumber
    message: Text = ""
    """What the engine says; empty: nothing new."""
    age_us: Signed = 0
    """For so long it is in that phase, by a monotonic clock."""


class EndReport(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt ended. A Struct, because one is made for every attempt: it costs a tenth."""

    batch_id: LongNumber
    job_id: Number
    attempt: ShortNumber
    start_age_us: Signed | None
    """None: it never started."""
    end_age_us: Signed
    reason: ReasonNumber | None
    """`Reason`.

    None: success. PREEMPTED returns the job to the queue (drain); without a start it hands back a
    lease.
    """
    exit_code: Integer | None
    signal: Annotated[int, Meta(ge=0, le=255)] | None
    cpu_ms: Count
    memory_peak_bytes: Count
    stdout_bytes: Count
    stderr_bytes: Count
    truncated: bool
    location: _Location | None
    """Where the log store put the output; None: the log store finds it by the attempt."""
    message: Text


@dataclass(frozen=True, kw_only=True)
class Registered:
    """The database's view of this worker after `register_worker`."""

    worker_id: int
    incarnation_id: int
    pool_id: int
    live: Sequence[Claimed]
    """Attempts of this incarnation that are live in the database.

    Adopt those that the spawner has and end the others. The call ends attempts of older
    incarnations as `lost`."""
    silent_s: float = 0.0
    """How old its last sign of life is: one that `is_over` gave none now."""


@dataclass(frozen=True, kw_only=True)
class HeartbeatAnswer:
    """The answer to a heartbeat."""

    alive: bool
    """False: the worker was declared lost; stop all its processes and register again with a new
    incarnation."""
    to_stop: Sequence[tuple[int, int, int]]
    """(batch, job, attempt) of this worker that must be stopped."""
    has_work: bool
    drains: bool = False
    """Take no new job; when nothing runs any more, call `finish_drain`."""
    kept: bool = False
    """Take jobs by `claim_reserved` only: until the one that this worker is kept for has started,
    or the next heartbeat says that it is not kept any more."""


class ParentAnswer(NamedTuple):
    """An answer to a parent of an attempt."""

    batch_id: int
    job_id: int
    attempt: int
    parent_id: int
    name: str | None
    """The parent's."""
    answer: str | None
    """As JSON; None: it stands in another entry with this parent."""


class JobUser(NamedTuple):
    """Whose a job is."""

    batch_id: int
    job_id: int
    tenant_id: int
    owner_id: int
    """The user of its batch."""
    tenant: str
    submitter: str
    """The name of the user who submitted the job."""


class OfferAnswer(NamedTuple):
    """What is with an offer of which a message told."""

    answer: str
    """`yours`: claimed by this call; `elsewhere`: it became an attempt that has not ended;
    `not_now`: it is offered still; `settled`: there is no such offer, or not any more.
    """
    batch_id: int
    job_id: int
    offer_id: int
    attempt: int | None = None
    """That it became."""
    claimed: Claimed | None = None
    """What was claimed, if it is yours."""


class OfferedStore(Protocol):
    """The calls of an agent that takes jobs from transports."""

    async def list_consumed(
        self, incarnation_id: Number, transports: Annotated[Sequence[Name], Listed]
    ) -> Sequence[tuple[str, str, str]]:
        """Return the queues that this worker consumes from these transports: transport, tenant
        and queue, in order.
        """

    async def claim_offered(
        self,
        incarnation_id: Number,
        transport: Name,
        tenant: Name,
        queue: Name,
        offers: Annotated[Sequence[tuple[LongNumber, Number, LongNumber]], Listed],
        request: ClaimRequest,
    ) -> Sequence[OfferAnswer]:
        """Take the jobs of offers (batch, job, offer) of which messages of a queue told, as far as
        this worker may have them. One answer for each, in no fixed order; repeats are harmless.
        """


class WorkerStore(Protocol):
    """The calls of a worker's agent."""

    async def register_worker(
        self,
        *,
        name: Name,
        host: Name,
        pool: Name,
        incarnation: Name,
        cpu_m: Signed,
        memory_mib: Signed,
        storage_mib: Signed,
        gpu: Integer,
        offers: Offers,
        version: Name,
        same_host_proved_gone: bool,
        log_place: PathText | None = None,
        log_directory: PathText | None = None,
        outlives: bool = False,
        is_over: bool = False,
    ) -> Registered:
        """Register this worker. Repeats are harmless.

        `log_place`, `log_directory`: see `LogDirectory`; None: the directory of the api.
        `outlives`: its silence proves nothing. `is_over`: it is dead, this is no sign of life.
        """

    async def claim_jobs(self, incarnation_id: Number, request: ClaimRequest) -> Sequence[Claimed]:
        """Take ready jobs.

        They are chosen by fair share, then priority, then age. The first may exceed the budget if
        the whole worker can hold it; otherwise the totals stay within the budget. Empty: there is
        no work, call `wait_for_work`.
        """

    async def get_chunks(
        self,
        batch_ids: Annotated[Sequence[LongNumber], Entries],
        chunk_firsts: Annotated[Sequence[Number], Entries],
    ) -> Mapping[tuple[int, int], bytes]:
        """Return spec chunks by (batch, first job)."""

    async def list_job_users(
        self, jobs: Annotated[Sequence[JobIds], Entries]
    ) -> Sequence[JobUser]:
        """Return whose these jobs are, by batch and job, unordered, without lost ones."""

    async def home_tenant(self) -> str | None:
        """Return what the installation's own tenant is called, which `weft up` has made; None:
        there are no tenants yet.
        """

    async def get_payload_part(
        self, batch_id: LongNumber, digest: Digest, part: Number
    ) -> tuple[int, bytes] | None:
        """Return the length of a payload, and this part of it; None: there is no such part."""

    async def get_app_part(
        self, batch_id: LongNumber, digest: Digest, part: Number
    ) -> tuple[int, bytes] | None:
        """Return the length of the packed folder of an application that jobs of this batch run,
        and this part of it; None: there is no such part.
        """

    async def get_secrets(
        self, incarnation_id: Number, wanted: Annotated[Sequence[tuple[AttemptKey, Name]], Entries]
    ) -> Sequence[StoredSecret | None]:
        """Return secrets by name for attempts, in this order: those of the user of their batch.
        None: this worker does not have the attempt.
        """

    async def find_files(
        self,
        incarnation_id: Number,
        key: AttemptKey,
        wanted: Annotated[Sequence[FileWanted], Entries],
    ) -> Sequence[FoundFile | None]:
        """Return what is known of files that an attempt is to get, in this order. None: this
        worker does not have the attempt, or its user may not read that batch.
        """

    async def find_stores(
        self, incarnation_id: Number, key: AttemptKey, names: Annotated[Sequence[Name], Listed]
    ) -> Sequence[StoredFileStore | None]:
        """Return stores of the attempt's tenant by name, in this order. None: there is no such
        store; empty: this worker does not have the attempt.
        """

    async def record_files(
        self,
        incarnation_id: Number,
        key: AttemptKey,
        files: Annotated[Sequence[KeptFile], Entries],
        *,
        staging_ms: Number,
        storing_ms: Number,
    ) -> bool:
        """Note what an attempt has left, before its end is reported, and how long it waited for
        its files. Return whether this worker has the attempt. Repeats are harmless.
        """

    async def record_products(
        self,
        incarnation_id: Number,
        key: AttemptKey,
        products: Annotated[Sequence[dict[str, Any]], Entries],
        *,
        inputs: Annotated[Sequence[dict[str, Any]], Entries] | None,
    ) -> bool:
        """Note what an attempt has made, before its end is reported, which decides whether it is
        kept; `inputs`: the files that it got. Return whether this worker has the attempt. Repeats
        are harmless.
        """

    async def wait_for_work(self, incarnation_id: Number) -> bool:
        """Record that this worker waits.

        True: there is work, claim again; False: a notice on `work` will follow.
        """

    async def start_attempts(
        self, incarnation_id: Number, reports: Annotated[Sequence[StartReport], Entries]
    ) -> Sequence[str]:
        """Record starts; return `ok` or `stale` per row."""

    async def record_phases(
        self, incarnation_id: Number, reports: Annotated[Sequence[PhaseReport], Entries]
    ) -> Sequence[str]:
        """Record phases of attempts; return `ok` or `stale` per row."""

    async def record_progress(
        self, incarnation_id: Number, reports: Annotated[Sequence[ProgressReport], Entries]
    ) -> None:
        """Record how far live attempts say that they are, instead of what they said before."""

    async def record_note(self, incarnation_id: Number, key: AttemptKey, note: Note) -> bool:
        """Keep what a running attempt says about its job, instead of what was said under this
        title. Return whether this worker has the attempt. Repeats are harmless.
        """

    async def complete_attempts(
        self, incarnation_id: Number, reports: Annotated[Sequence[EndReport], Entries]
    ) -> Sequence[str]:
        """Record ends.

        Return per row `ok` (also for a repeat) or `stale` (no longer the owner: forget it).
        """

    async def ask_block(self, incarnation_id: Number, key: AttemptKey, ask: Ask) -> bool:
        """Note what a running attempt asks to wait for, before its end is reported as an exit with
        75: then the job is blocked on that condition. Return whether this worker has the attempt.
        """

    async def claim_reserved(
        self, incarnation_id: Number, request: ClaimRequest
    ) -> tuple[Sequence[Claimed], bool]:
        """Take the job that this worker is kept for: it starts as soon as there is room. Called
        again before it has started: take jobs within the budget whose time limits end them before
        there could be room for it. They start at once. Return whether the jobs are such others.

        A worker that is not kept takes jobs within the budget that may start before the job that
        it names in `request.passes`: those of the same user have at least its priority.
        """

    async def complete_and_claim(
        self,
        incarnation_id: Number,
        reports: Annotated[Sequence[EndReport], Entries],
        request: ClaimRequest,
    ) -> tuple[Sequence[str], Sequence[Claimed]]:
        """Do both in one transaction, at little more than the cost of one."""

    async def list_to_stop(
        self, incarnation_id: Number, attempts: Attempts
    ) -> Sequence[tuple[int, int, int]]:
        """Return which of these (batch, job, attempt) must be stopped: they are cancelled, or
        this incarnation no longer owns them.

        Called on each notice on `cancel`. Implemented by `list_to_stop.sql`.
        """

    async def list_commands(
        self, incarnation_id: Number, attempts: Attempts
    ) -> tuple[Sequence[Command], bool]:
        """Return what these (batch, job, attempt) are to be told, and whether to ask again after
        later claims: their jobs may have to be told something, too.

        Called on each notice on `command`, and after each gap in the notices.
        """

    async def list_time_limits(self, attempts: Attempts) -> Mapping[tuple[int, int, int], int]:
        """Return the time limits in ms of those of these (batch, job, attempt) whose `retry_with`
        says something about them; the others have that of their spec.
        """

    async def list_answers(self, attempts: Attempts) -> Sequence[ParentAnswer]:
        """Return what parents of these (batch, job, attempt) were answered that waited for it and
        were approved, by the parents' numbers. Implemented by `list_answers.sql`.
        """

    async def note_avoided(
        self, incarnation_id: Number, nodes: Annotated[Sequence[AvoidedNode], Listed]
    ) -> None:
        """Record which nodes a gateway avoids now, instead of earlier ones; the first hundred."""

    async def list_choices(
        self, batch_ids: Annotated[Sequence[LongNumber], Entries]
    ) -> Mapping[int, Mapping[str, Sequence[str]]]:
        """Return what the tenants of these batches let their jobs choose now, by kind; tenants
        without lists are left out.
        """

    async def acknowledge_commands(
        self,
        incarnation_id: Number,
        obeyed: Annotated[Sequence[tuple[LongNumber, AttemptKey, Text]], Entries],
    ) -> None:
        """Record what came of commands, by number: an empty text, or why they were not obeyed.
        Repeats are harmless.
        """

    async def list_removed(
        self, batch_ids: Annotated[Sequence[LongNumber], Listed]
    ) -> Sequence[int]:
        """Return which of these batches were deleted and are removed.

        Called after each gap in the notices, and on each notice on `removed`.
        """

    async def list_ended_jobs(
        self, jobs: Annotated[Sequence[JobIds], Listed]
    ) -> Sequence[tuple[int, int]]:
        """Return which of these (batch, job) have ended or are gone: no attempt will follow,
        unless somebody retries them.
        """

    async def heartbeat(
        self,
        incarnation_id: Number,
        attempts: Attempts,
        *,
        draining: bool,
        claiming: bool = False,
        heard: Annotated[Sequence[LongNumber], Entries] = (),
    ) -> HeartbeatAnswer:
        """Report that the worker lives and which attempts it has; roll up usage.

        `attempts`: all claimed attempts whose end is not recorded, from the moment the claim
        returns. A missing lease is handed back, unless `claiming`: a claim is under way, and the
        list lacks its attempts.
        `heard`: numbers of claims whose replies have arrived (`ClaimRequest.call`).
        """

    async def finish_drain(self, incarnation_id: Number) -> bool:
        """End this worker, which drains, if nothing runs there; return whether it has ended.

        False: it may take jobs again, or has some of which it did not hear; heartbeats tell.
        """

    async def leave(self, incarnation_id: Number) -> None:
        """Unregister the worker; attempts that it still has are lost at once."""
