"""What the store knows of a job that waits or has ended."""

from datetime import datetime
from typing import Any

import msgspec


class JobName(msgspec.Struct, frozen=True):
    """A job that another one waits for."""

    batch_id: int
    job_id: int
    user: str | None = None
    cost: int = 1
    """How many places of a gate it has."""


class ParentFacts(msgspec.Struct, frozen=True):
    """A parent that has not ended."""

    job_id: int
    state: str
    need: int = 0
    """What is enough, see `Need`; 0: its success."""


class ShareFacts(msgspec.Struct, frozen=True):
    """Parents of which a share must succeed, while that is open."""

    share: int
    of: str
    n_jobs: int
    n_needed: int
    n_succeeded: int
    n_failed: int


class GateFacts(msgspec.Struct, frozen=True):
    """A gate that keeps a job from being offered to workers."""

    kind: str
    key: str
    max_places: int | None = None
    n_taken: int = 0
    opens_at: datetime | None = None
    cost: int = 1
    """How many places the job needs."""
    holders: tuple[JobName, ...] = ()
    """The first jobs that have a place."""


class OpenMessage(msgspec.Struct, frozen=True):
    """A message for a sink that has not arrived."""

    sink: str
    delivery_id: int
    state: str
    n_attempts: int = 0
    last_status: int | None = None
    last_error: str | None = None
    next_at: datetime | None = None


class StoppedWorker(msgspec.Struct, frozen=True):
    """A worker that takes no jobs."""

    worker: str
    state: str
    reason: str | None = None
    """Why, as far as somebody said it."""


class ComingMachine(msgspec.Struct, frozen=True):
    """A machine that was asked for and has no worker yet."""

    machine: str
    since: datetime
    usual_s: float | None = None
    """How long others of its flavour took; None: none has come yet."""
    waits: str | None = None
    """Why its provider has not begun it; None: it has, or does not say."""


class GrowthFacts(msgspec.Struct, frozen=True):
    """What a pool that makes machines can do for a job."""

    machines: int = 0
    max_workers: int = 0
    has_room: bool = False
    """One more may be made."""
    coming: ComingMachine | None = None
    """The one that was asked for first."""
    problem: str | None = None
    """Why the provider made none when it was asked last."""


class PoolFacts(msgspec.Struct, frozen=True):
    """The workers of the pool in which a job waits."""

    pool: str
    workers: int = 0
    serving: int = 0
    """Those that offer what the job asks beside cpu and memory, and serve its queue."""
    large: int = 0
    """Those of them with enough cpu and memory."""
    active: int = 0
    """Those of them that take jobs."""
    cpu: float | None = None
    """The most cores that one of the serving workers has; None: there is none."""
    memory: int | None = None
    stopped: tuple[StoppedWorker, ...] = ()
    """The first large ones that take no jobs."""
    free: bool = False
    """One has room, or its jobs come and go too fast to say."""
    behind: str | None = None
    """One that would have room, if it did not keep it for a job that it has claimed."""
    cpu_active: float = 0
    """Cores of all workers that take jobs."""
    running: float = 0
    """Cores that jobs of the same user have."""
    ahead: bool = False
    """Another user runs less and has ready jobs."""
    growth: GrowthFacts | None = None
    """None: the pool makes no machine that holds such a job."""
    ending: int = 0
    """Workers that would serve the job, if their machine did not end before its time limit."""


class TravelFacts(msgspec.Struct, frozen=True):
    """The transport over which a job of its queue travels."""

    transport: str
    since: datetime | None = None
    """When the job was offered; None: it is not."""
    confirmed: bool = False
    """The transport has said that it keeps the message."""
    foreign: bool = False
    """Programs run them that are not weft's."""
    slots: int = 0
    """Jobs that the workers which consume the queue run at a time."""
    busy: int = 0
    offered: int = 0
    """Jobs of the queue that nobody has taken."""
    away_since: datetime | None = None
    """None: it answered when the driver last looked."""
    error: str | None = None


class LimitFacts(msgspec.Struct, frozen=True):
    """The limit at which a job is paused, or near which it waits, by itself or with others."""

    kind: str
    """Of what: project, user, batch or group."""
    name: str
    measure: str
    amount_max: float | None
    """None: it was taken away, and the driver has not seen that yet."""
    near: bool = False
    """It is not reached: jobs start as far as they fit below it."""


class ClaimedFacts(msgspec.Struct, frozen=True):
    """Jobs of a batch or group that workers have claimed and that wait there, or in engines."""

    job_id: int
    """The first one."""
    worker: str
    n: int = 1
    elsewhere: bool = False
    """It waits in the engine of its worker."""
    message: str | None = None
    """What the engine says; None: nothing yet."""


class GroupFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A batch or a group, with a few jobs that stand for the others."""

    batch_id: int
    name: str
    """As commands name it: `b12/stage1`."""
    state: str
    complete: bool
    n_jobs: int
    n_pending: int = 0
    n_ready: int = 0
    n_running: int = 0
    n_blocked: int = 0
    n_failed: int = 0
    """Failed, or errors."""
    held: tuple[str, ...] = ()
    """As of a job."""
    limit: LimitFacts | None = None
    """As of a job."""
    ready: tuple["JobFacts", ...] = ()
    """Ready ones, and blocked ones."""
    claimed: ClaimedFacts | None = None
    """None: nothing that is said to run waits for room or in an engine."""
    failed: "EndFacts | None" = None
    """The first one that is found."""
    messages: tuple[dict[str, Any], ...] = ()
    """Of a batch: for each of its sinks, how many have not arrived."""
    came: dict[str, str] = {}
    """As of a job."""


class _FactsOfJob(msgspec.Struct, frozen=True, kw_only=True):
    batch_id: int
    job_id: int
    state: str
    messages: tuple[OpenMessage, ...] = ()
    """Of one that has ended: the first that have not arrived."""
    kept: str | None = None
    """The worker that is kept for it."""
    silent_since: datetime | None = None
    """Nothing was heard of its worker since then, and an engine elsewhere runs it."""
    reconnects_since: datetime | None = None
    """Nothing was heard of its worker since then, which is outside and will be heard of again."""


class EndFacts(_FactsOfJob, frozen=True, kw_only=True):
    """A job that runs or has ended, by its last attempt."""

    attempt: int = 0
    max_attempts: int = 1
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    message: str | None = None
    worker: str | None = None
    """None: it never had one, or that is not known."""
    phase: str | None = None
    """What it does while it runs; `message` is what an engine elsewhere says then."""
    claimed_at: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    timeout_s: float | None = None
    actor: str | None = None
    """The user who cancelled it."""
    outputs_of: str | None = None
    """The job that succeeded in its place."""
    service: dict[str, Any] | None = None
    """What makes it one; None: it is none."""
    again: str | None = None
    """Why a service was started again last; None: it was not."""
    memory: int | None = None
    """Bytes that it reserved."""
    memory_peak: int | None = None
    """The most bytes that its last attempt used; None: not known, or not yet."""
    stderr: str | None = None
    """Its last line there; empty: it wrote nothing; None: that cannot be read."""


class ConditionFacts(msgspec.Struct, frozen=True):
    """What a blocked job waits for together with others."""

    condition_id: int
    condition: str
    tester: str
    parameters: dict[str, str]
    since: datetime
    next_test_at: datetime
    n_jobs: int = 1
    tested_at: datetime | None = None
    passed: bool | None = None
    message: str | None = None


class BlockedFacts(msgspec.Struct, frozen=True):
    """When a blocked job is ready again, and why its last attempt ended."""

    attempt: int
    next_at: datetime
    reason: str | None = None
    exit_code: int | None = None
    signal: int | None = None
    condition: ConditionFacts | None = None
    """None: it waits for its date alone."""
    stops_on: str | None = None
    """The worker that is to stop that attempt first."""
    message: str | None = None
    """The end of what that attempt said of its end."""
    service: bool = False
    """It is started again whenever it ends."""


class JobFacts(_FactsOfJob, frozen=True, kw_only=True):
    """A job, and what may keep it from running."""

    queue: str = "default"
    user: str = ""
    """Its owner; empty: the one who asks."""
    cpu: float = 1
    memory: int = 0
    asks: dict[str, int | float | str | list[str]] = {}
    """What it asks beside cpu, memory and queue."""
    held: tuple[str, ...] = ()
    """Paths of held groups, `/` for the batch, and an empty text for the job itself."""
    limit: LimitFacts | None = None
    """None: its billing project is not paused."""
    n_parents: int = 0
    """Parents that have not ended."""
    parents: tuple[ParentFacts, ...] = ()
    shares: tuple[ShareFacts, ...] = ()
    gates: tuple[GateFacts, ...] = ()
    belongs: str | None = None
    """The queue that guards choose for it by now, if that is another one."""
    preempts: tuple[JobName, ...] = ()
    """Running jobs that are being stopped for it."""
    machine: ComingMachine | None = None
    """The machine of its own that it waits for."""
    travels: TravelFacts | None = None
    """None: workers claim the jobs of its queue."""
    stays: bool = False
    """It was lost so often on machines that may be taken back that it needs one that stays."""
    more: str | None = None
    """What its last retry asked for beyond the attempt before."""
    pool: PoolFacts | None = None
    """None: it does not wait."""
    blocked: BlockedFacts | None = None
    """None: it is not blocked."""
    came: dict[str, str] = {}
    """Of its batch: `door`, `foreign_id` and `app`, as far as it has them."""
