"""The answers about batches."""

from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.answers.billing import ResourceCost
from weft.wire.answers.field_types import IF_GIVEN, Count, ForeignId, GroupStateWord, JobIds, Money
from weft.wire.answers.progress import ProgressOfJobs
from weft.wire.answers.sinks import UnsentMessages
from weft.wire.keys import Rate

_OF_DOOR = Meta(description="of a batch that came through a door; missing for others")


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
    rate: Annotated[Rate | UnsetType, IF_GIVEN] = UNSET
    resubmitted_from: Annotated[int | UnsetType, Meta(description="missing if none")] = UNSET
    door: Annotated[str | UnsetType, _OF_DOOR] = UNSET
    foreign_id: ForeignId = UNSET
    foreign_trace: Annotated[
        str | UnsetType, Meta(description="the trace id of the door's client; missing if none")
    ] = UNSET


class Change(Struct, kw_only=True):
    """A change that somebody made to a batch or a group."""

    id: int
    at: datetime
    actor: str
    kind: str
    message: str | None


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
