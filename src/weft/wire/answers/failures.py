"""The documents about failed jobs that the API replies with, for its description."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct

from weft.wire.answers.field_types import Count, Door, ForeignId, ReasonWord
from weft.wire.answers.jobs import JobNumber

CauseName = Annotated[
    str, Meta(description="the same for failures of all batches that have it in common")
]
CauseText = Annotated[
    str | None, Meta(description="what failed jobs said, without what differs from job to job")
]


class FailureExample(Struct, kw_only=True):
    """The first job that failed for a cause."""

    job_id: int
    attempt: Annotated[int, Meta(ge=0, description="the last one; 0: it never started")]
    message: Annotated[str | None, Meta(description="what it said")]


class FailureCause(Struct, kw_only=True):
    """A cause for which jobs of a batch failed."""

    cause: CauseName
    reason: ReasonWord
    exit_code: int | None
    signal: int | None
    message: CauseText
    n_jobs: Annotated[int, Meta(ge=0, description="that nobody has acknowledged")]
    n_acknowledged: Count
    failed_at: Annotated[datetime, Meta(description="when the last of them failed")]
    example: FailureExample | None


class Failures(Struct, kw_only=True):
    """Why jobs of a batch failed for good, the most frequent causes first."""

    n_jobs: Annotated[int, Meta(ge=0, description="failed jobs that nobody has acknowledged")]
    n_acknowledged: Count
    n_causes: Annotated[int, Meta(ge=0, description="also those that `limit` leaves out")]
    causes: list[FailureCause]


class Acknowledgement(Struct, kw_only=True):
    """A note that somebody has seen to a failed job or a dead message."""

    at: datetime
    by: str
    note: str


class DeadLetter(JobNumber, kw_only=True):
    """A job that has failed and is not tried again."""

    cause: CauseName
    n_alike: Annotated[
        int, Meta(ge=1, description="jobs of its batch in this list with the same cause")
    ]
    state: Literal["failed", "error"]
    reason: ReasonWord
    exit_code: int | None
    signal: int | None
    message: Annotated[str | None, Meta(description="the last error")]
    attempt: Annotated[int, Meta(ge=0, description="the last one; 0: it never started")]
    final_retry_count: Annotated[
        int, Meta(ge=0, description="how often it was tried again after a failure of its own")
    ]
    failed_at: datetime
    cancelled: Annotated[bool, Meta(description="its group was cancelled: it never runs again")]
    acknowledged: Annotated[
        Acknowledgement | None, Meta(description="null: it is still to be seen to")
    ]
    door: Door = UNSET
    foreign_id: ForeignId = UNSET


class Acknowledged(Struct, kw_only=True):
    """Failed jobs that left the list; ask again with the same `until` while there are any."""

    batch_id: int
    n_jobs: Count
    until: datetime
