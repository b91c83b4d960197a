"""The documents that the API replies with, for its description.

The rows come from the database unchanged; nothing is built from these structs. A test compares the
replies with them field by field, so `/openapi.json` and the replies cannot differ.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.pictures.timeline import Milliseconds, PhaseTimes
from weft.core.states import JobStateWord
from weft.wire.answers.files import NoteTitles, ProgressOfJob, ProgressOfJobs
from weft.wire.answers.sources import UnsentMessages
from weft.wire.answers.workers import Worker
from weft.wire.keys import Rate

GroupStateWord = Literal["running", "success", "failure", "cancelled"]
ReasonWord = Literal[
    "exit",
    "signal",
    "timeout",
    "oom",
    "disk",
    "no_program",
    "no_image",
    "bad_spec",
    "cancelled",
    "preempted",
    "lost",
    "log_limit",
    "system",
    "deadline",
    "blocked",
    "overdue",
    "files",
]
PhaseWord = Literal[
    "assigned",
    "preparing",
    "staging_inputs",
    "submitting",
    "queued_remote",
    "executing",
    "collecting",
    "archiving",
    "publishing",
]
Count = Annotated[int, Meta(ge=0)]
_IF_WAITING = Meta(description="that have its concurrency key, while it waits for that")
_IF_ASKED = Meta(description="why it waits; null: for nothing; missing if not asked for")
_MESSAGE = Meta(description="details of its end; while it runs in an engine, what that says of it")
_IF_GIVEN = Meta(description="as submitted; missing if it was not given")
_OF_DOOR = Meta(description="of a batch that came through a door; missing for others")
Door = Annotated[str | UnsetType, Meta(description="through which it came; missing if none")]
ForeignId = Annotated[str | UnsetType, Meta(description="its id at the door; missing if none")]
_WITH_DEFAULTS = Meta(description="as submitted, with its defaults; missing if not given")
_OF_SUCCESS = Meta(description="of a success by `exit_codes` or an answer; missing for others")
_IN_SPITE = Meta(description="why it runs in spite of `cache`; missing if it need not")
_OF_OTHER = Meta(description="the job whose it has, as `b3.j7`; missing if they are its own")
Money = Annotated[float, Meta(ge=0, description="in the deployment's currency")]


class ResourceCost(Struct, kw_only=True):
    """The usage of one resource, and its cost."""

    resource: str
    usage: Annotated[int, Meta(ge=0, description="in the unit")]
    unit: str
    cost: Money


class CountedJobs(Struct, kw_only=True):
    """The fields that batches and groups share."""

    name: str | None
    user: str
    billing_project: str
    state: GroupStateWord
    complete: Annotated[bool, Meta(description="all jobs have ended")]
    cancelled: bool
    hidden: Annotated[bool, Meta(description="lists of batches leave the batch out")]
    held: bool
    n_jobs: Count
    n_completed: Count
    n_pending: Count
    n_ready: Count
    n_queued: Count
    n_creating: Count
    n_running: Count
    n_blocked: Count
    n_succeeded: Count
    n_failed: Count
    n_errored: Count
    n_cancelled: Count
    cost: Money
    cost_by_resource: list[ResourceCost]
    created_at: datetime
    completed_at: Annotated[
        datetime | None, Meta(description="when the last job ended; null: not complete, or empty")
    ]
    duration_ms: Annotated[int, Meta(ge=0, description="milliseconds to its completion or to now")]
    attributes: dict[str, str]
    callback: str | None
    cancel_after_n_failures: int | None
    max_running: int | None
    trace_id: str


class Batch(CountedJobs, kw_only=True):
    """A batch: its state, counts and cost."""

    id: int
    messages: Annotated[
        list[UnsentMessages] | UnsetType,
        Meta(description="for its sinks; missing in lists, and if all have arrived"),
    ] = UNSET
    progress: ProgressOfJobs = UNSET
    rate: Annotated[Rate | UnsetType, _IF_GIVEN] = UNSET
    resubmitted_from: Annotated[int | UnsetType, Meta(description="missing if none")] = UNSET
    door: Annotated[str | UnsetType, _OF_DOOR] = UNSET
    foreign_id: ForeignId = UNSET
    foreign_trace: Annotated[
        str | UnsetType, Meta(description="the trace id of the door's client; missing if none")
    ] = UNSET


class Group(CountedJobs, kw_only=True):
    """A job group: its state, counts and cost."""

    batch_id: int
    group_id: int
    kind: Literal["tree", "set"]
    path: Annotated[str | None, Meta(description="of a tree group; null: a set")]
    parent_id: int | None


class SharedLimit(Struct, kw_only=True):
    """A concurrency key of a job."""

    key: str
    n: Annotated[int, Meta(ge=1, description="as submitted; other jobs may have changed it")]


class JobNumber(Struct, kw_only=True):
    """A job, without saying anything about it."""

    batch_id: int
    job_id: int


class Job(JobNumber, kw_only=True):
    """A job, as lists show it."""

    name: str | None
    index: Annotated[int | None, Meta(description="within its array; null: not in an array")]
    group_id: Annotated[int, Meta(description="the tree group")]
    groups: Annotated[list[int], Meta(description="the sets")]
    state: JobStateWord
    phase: PhaseWord | None
    reason: Annotated[ReasonWord | None, Meta(description="why the last attempt did not succeed")]
    exit_code: int | None
    signal: int | None
    message: Annotated[str | None, _MESSAGE]
    attempt: Annotated[int, Meta(ge=0, description="number of the last attempt; 0: none yet")]
    user: str
    queue: str
    priority: int
    always_run: bool
    held: Annotated[bool, Meta(description="itself or by a group")]
    cost: Money
    duration_ms: Annotated[int | None, Meta(description="milliseconds of the last attempt")]
    ready_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
    attributes: dict[str, str]
    not_before: Annotated[datetime | UnsetType, _IF_GIVEN] = UNSET
    deadline: Annotated[datetime | UnsetType, _IF_GIVEN] = UNSET
    concurrency_key: Annotated[SharedLimit | UnsetType, _IF_GIVEN] = UNSET
    rate: Annotated[Rate | UnsetType, _IF_GIVEN] = UNSET
    preemptible: Annotated[bool | UnsetType, _IF_GIVEN] = UNSET
    machine: Annotated[str | UnsetType, _IF_GIVEN] = UNSET
    retry: Annotated[dict[str, Any] | UnsetType, _WITH_DEFAULTS] = UNSET
    external_errors: Annotated[list[int | str] | UnsetType, _IF_GIVEN] = UNSET
    exit_codes: Annotated[dict[str, str] | UnsetType, _IF_GIVEN] = UNSET
    subtype: Annotated[str | UnsetType, _OF_SUCCESS] = UNSET
    retry_with: Annotated[list[dict[str, Any]] | UnsetType, _IF_GIVEN] = UNSET
    licences: Annotated[dict[str, int] | UnsetType, _IF_GIVEN] = UNSET
    app: Annotated[str | UnsetType, _IF_GIVEN] = UNSET
    parameters: Annotated[dict[str, Any] | UnsetType, _IF_GIVEN] = UNSET
    service: Annotated[dict[str, Any] | UnsetType, _IF_GIVEN] = UNSET
    wait: Annotated[dict[str, Any] | UnsetType, _IF_GIVEN] = UNSET
    answer: Annotated[dict[str, Any] | UnsetType, _OF_SUCCESS] = UNSET
    cache: Annotated[str | UnsetType, _IF_GIVEN] = UNSET
    not_cached: Annotated[str | UnsetType, _IN_SPITE] = UNSET
    outputs_of: Annotated[str | UnsetType, _OF_OTHER] = UNSET
    status: Annotated[str | UnsetType, _IF_GIVEN] = UNSET
    progress: ProgressOfJob = UNSET
    why: Annotated[str | UnsetType | None, _IF_ASKED] = UNSET
    need: Annotated[str | UnsetType, Meta(description="of a parent; missing: success")] = UNSET


class Resources(Struct, kw_only=True):
    """The resources that a job reserves."""

    cpu: Annotated[float, Meta(description="cores")]
    memory: Annotated[int, Meta(description="bytes")]
    storage: Annotated[int, Meta(description="bytes")]
    gpu: int


class JobDetail(Job, kw_only=True):
    """A job with all its details."""

    parents: Annotated[list[int], Meta(description="the first 100; `GET …/parents` lists all")]
    n_parents: Annotated[int | None, Meta(description="null: more than 1,000")]
    end_parents: Annotated[list[int] | UnsetType, Meta(description="their end is enough")] = UNSET
    start_parents: Annotated[list[int] | UnsetType, Meta(description="their start is")] = UNSET
    share_parents: Annotated[
        dict[str, list[int]] | UnsetType,
        Meta(description="by the share of them that must succeed"),
    ] = UNSET
    resources: Resources
    max_attempts: int
    times: Annotated[PhaseTimes, Meta(description="in all attempts together")]
    spec: Annotated[dict[str, Any], Meta(description="what its executor runs")]
    notes: NoteTitles = UNSET
    key_holders: Annotated[list[JobNumber] | UnsetType, _IF_WAITING] = UNSET
    next_try_at: Annotated[
        datetime | UnsetType, Meta(description="when it is ready again, while it is blocked")
    ] = UNSET


class StoredOutput(Struct, kw_only=True):
    """How much of an attempt's output is stored."""

    stdout_bytes: Count
    stderr_bytes: Count
    truncated: bool


class Attempt(Struct, kw_only=True):
    """One execution of a job."""

    attempt: int
    worker: str
    state: Annotated[JobStateWord, Meta(description="of the job after this attempt")]
    phase: PhaseWord | None
    reason: ReasonWord | None
    exit_code: int | None
    signal: int | None
    message: Annotated[str | None, _MESSAGE]
    claimed_at: datetime
    started_at: Annotated[datetime | None, Meta(description="null: it did not run")]
    ended_at: Annotated[datetime | None, Meta(description="null: it is not over")]
    cpu_ms: Milliseconds
    memory_peak_bytes: Count
    cost: Money
    cost_by_resource: list[ResourceCost]
    log: StoredOutput
    progress: ProgressOfJob = UNSET


class HistoryEntry(Struct, kw_only=True, rename={"from_": "from"}):
    """A dated change of a job."""

    at: datetime
    from_: JobStateWord | None
    to: JobStateWord
    phase: PhaseWord | None
    attempt: int | None
    actor: str
    subtype: str | None
    message: str | None
    status: Annotated[str | UnsetType, _IF_GIVEN] = UNSET


class Change(Struct, kw_only=True):
    """A change that somebody made to a batch or a group."""

    id: int
    at: datetime
    actor: str
    kind: str
    message: str | None


class Event(Struct, kw_only=True, rename={"from_": "from"}):
    """A change of jobs or groups of a batch, or of a condition that jobs wait for, as `data` of a
    server-sent event.
    """

    id: Annotated[str, Meta(description="for the Last-Event-ID header")]
    at: datetime
    kind: Annotated[str, Meta(examples=["jobs.success", "group.complete", "batch.complete"])]
    batch_id: Annotated[int, Meta(description="0: it is about no batch")]
    from_: JobStateWord | None
    to: JobStateWord | None
    jobs: list[int]
    groups: list[int]
    trace_id: str | None
    detail: Annotated[
        dict[str, Any] | None,
        Meta(
            description="of `condition.opened` and `condition.closed`: the condition; of an "
            "`operation` on many batches: its number"
        ),
    ]


class ProblemField(Struct, kw_only=True):
    """One offending field."""

    pointer: Annotated[str, Meta(description="a JSON pointer (RFC 6901)")]
    message: str


class Problem(Struct, kw_only=True):
    """An error (RFC 9457): what happened, why, and what to do. docs/errors.md lists the codes."""

    type: str
    title: Annotated[str, Meta(description="what happened")]
    status: int
    detail: Annotated[str, Meta(description="why")]
    hint: Annotated[str, Meta(description="what to do")]
    code: str
    trace_id: str
    errors: list[ProblemField]


class Operation(Struct, kw_only=True):
    """Work on a batch, or on many, that goes on in the background."""

    id: int
    kind: str
    batch_id: Annotated[int | None, Meta(description="null: it is on many batches")]
    state: Literal["running", "success", "failed", "cancelled"]
    done: Annotated[Count, Meta(description="of job or batch numbers, those that it has passed")]
    total: Count
    error: Problem | None
    result: dict[str, Any] | None
    created_at: datetime
    ended_at: datetime | None
    trace_id: str | None


class Update(Struct, kw_only=True):
    """The contiguous numbers that an update has reserved."""

    batch_id: int
    update_id: int
    first_job: int
    first_group: int
    n_jobs: Count
    n_groups: Count
    committed: bool


class Plan(Struct, kw_only=True):
    """How a query would run (`explain=true`)."""

    sql: str
    plan: list[str]


class Overview(Struct, kw_only=True):
    """The workers, and the numbers of waiting and running jobs."""

    pending: Count
    ready: Count
    queued: Count
    running: Count
    blocked: Count
    conditions: Annotated[Count, Meta(description="what blocked jobs wait for, each once")]
    incidents: Annotated[Count, Meta(description="those, failing sources, sinks and workers")]
    workers: list[Worker]


class Minute(Struct, kw_only=True):
    """What happened in one minute."""

    at: Annotated[datetime, Meta(description="when the minute began")]
    n_waiting: Annotated[int, Meta(description="jobs that had not started at its end")]
    n_running: Annotated[int, Meta(description="jobs that ran at its end")]
    n_succeeded: Count
    n_failed: Annotated[int, Meta(ge=0, description="jobs that failed, or ended by an error")]
    n_cancelled: Count


class Minutes(Struct, kw_only=True):
    """The last 60 minutes, oldest first."""

    items: list[Minute]


JobIds = Annotated[
    list[int] | UnsetType, Meta(description="of the jobs, in the order of the request")
]


class BatchCreated(Struct, kw_only=True):
    """A batch that a request created."""

    id: int
    batch_id: int
    update_id: Annotated[int | None, Meta(description="null: the batch is empty")]
    first_job: int | None
    first_group: int | None
    n_jobs: Count
    n_groups: Count
    committed: bool
    trace_id: str
    job_ids: JobIds = UNSET
    skipped: Annotated[bool | UnsetType, Meta(description="true: this has the key")] = UNSET
    replaced: Annotated[int | UnsetType, Meta(description="cancelled; it had the key")] = UNSET


class UpdateCreated(Update, kw_only=True):
    """An update that a request created; one with jobs or groups is committed."""

    id: Annotated[int | UnsetType, Meta(description="the batch")] = UNSET
    trace_id: str | UnsetType = UNSET
    job_ids: JobIds = UNSET


class ReasonCount(Struct, kw_only=True):
    """A reason for which jobs failed."""

    reason: ReasonWord
    state: JobStateWord
    exit_code: int | None
    signal: int | None
    n_jobs: Annotated[int, Meta(ge=1, description="jobs that failed for it")]
    first_job: Annotated[int, Meta(ge=1, description="the one with the smallest number")]


class JobsAdded(Struct, kw_only=True):
    """The number of jobs in a bunch."""

    n_jobs: Count


class PayloadPart(Struct, kw_only=True):
    """A part of a payload that is stored now."""

    part: Count
    n_parts: Annotated[int, Meta(ge=1, description="parts of the whole payload")]


class GroupsAdded(Struct, kw_only=True):
    """The number of groups in a bunch."""

    n_groups: Count


class MembersAdded(Struct, kw_only=True):
    """The number of jobs that a request added to a set, and the number that it has now."""

    batch_id: int
    group_id: int
    added: Count
    n_members: Count


class Cancelled(Struct, kw_only=True):
    """A batch or a group is cancelled."""

    batch_id: int
    group_id: int | UnsetType = UNSET
    cancelled: bool
    was_cancelled: Annotated[bool, Meta(description="before this request")]
    had_ended: Annotated[
        bool,
        Meta(description="all its jobs had ended: it keeps its state, and takes no more jobs"),
    ]


class HoldChanged(Struct, kw_only=True):
    """A batch or a group was held or released."""

    batch_id: int
    group_id: int
    held: Annotated[bool, Meta(description="now, perhaps by a group above")]
    was_held: Annotated[bool, Meta(description="before this request, by a hold of its own")]


class HiddenChanged(Struct, kw_only=True):
    """A batch was hidden from lists, or is shown again."""

    batch_id: int
    hidden: Annotated[bool, Meta(description="now")]
    was_hidden: Annotated[bool, Meta(description="before this request")]


class JobHoldChanged(JobNumber, kw_only=True):
    """The result of a hold or a release of a job."""

    result: Annotated[
        str,
        Meta(description="`held`, perhaps by a group; `released`; or the state in which it ended"),
    ]


class JobCancelled(JobNumber, kw_only=True):
    """The result of a cancel of a job."""

    result: Annotated[
        str,
        Meta(description="`cancelled`; `cancelling`: it runs; or the state in which it has ended"),
    ]
