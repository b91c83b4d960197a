"""The answers about jobs."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.pictures.timeline import PhaseTimes
from weft.core.states import JobStateWord
from weft.wire.answers.field_types import IF_GIVEN, MESSAGE, Money, PhaseWord, ReasonWord
from weft.wire.answers.notes import NoteTitles
from weft.wire.answers.progress import ProgressOfJob
from weft.wire.keys import Rate

_IF_WAITING = Meta(description="that have its concurrency key, while it waits for that")
_IF_ASKED = Meta(description="why it waits; null: for nothing; missing if not asked for")
_WITH_DEFAULTS = Meta(description="as submitted, with its defaults; missing if not given")
_OF_SUCCESS = Meta(description="of a success by `exit_codes` or an answer; missing for others")
_IN_SPITE = Meta(description="why it runs in spite of `cache`; missing if it need not")
_OF_OTHER = Meta(description="the job whose it has, as `b3.j7`; missing if they are its own")


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
    message: Annotated[str | None, MESSAGE]
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
    not_before: Annotated[datetime | UnsetType, IF_GIVEN] = UNSET
    deadline: Annotated[datetime | UnsetType, IF_GIVEN] = UNSET
    concurrency_key: Annotated[SharedLimit | UnsetType, IF_GIVEN] = UNSET
    rate: Annotated[Rate | UnsetType, IF_GIVEN] = UNSET
    preemptible: Annotated[bool | UnsetType, IF_GIVEN] = UNSET
    machine: Annotated[str | UnsetType, IF_GIVEN] = UNSET
    retry: Annotated[dict[str, Any] | UnsetType, _WITH_DEFAULTS] = UNSET
    external_errors: Annotated[list[int | str] | UnsetType, IF_GIVEN] = UNSET
    exit_codes: Annotated[dict[str, str] | UnsetType, IF_GIVEN] = UNSET
    subtype: Annotated[str | UnsetType, _OF_SUCCESS] = UNSET
    retry_with: Annotated[list[dict[str, Any]] | UnsetType, IF_GIVEN] = UNSET
    licences: Annotated[dict[str, int] | UnsetType, IF_GIVEN] = UNSET
    app: Annotated[str | UnsetType, IF_GIVEN] = UNSET
    parameters: Annotated[dict[str, Any] | UnsetType, IF_GIVEN] = UNSET
    service: Annotated[dict[str, Any] | UnsetType, IF_GIVEN] = UNSET
    wait: Annotated[dict[str, Any] | UnsetType, IF_GIVEN] = UNSET
    answer: Annotated[dict[str, Any] | UnsetType, _OF_SUCCESS] = UNSET
    cache: Annotated[str | UnsetType, IF_GIVEN] = UNSET
    not_cached: Annotated[str | UnsetType, _IN_SPITE] = UNSET
    outputs_of: Annotated[str | UnsetType, _OF_OTHER] = UNSET
    status: Annotated[str | UnsetType, IF_GIVEN] = UNSET
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
    status: Annotated[str | UnsetType, IF_GIVEN] = UNSET


class ReasonCount(Struct, kw_only=True):
    """A reason for which jobs failed."""

    reason: ReasonWord
    state: JobStateWord
    exit_code: int | None
    signal: int | None
    n_jobs: Annotated[int, Meta(ge=1, description="jobs that failed for it")]
    first_job: Annotated[int, Meta(ge=1, description="the one with the smallest number")]


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
