"""Documents about schedules: those that clients send, and what the API replies with."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.answers.field_types import Count
from weft.wire.description import says
from weft.wire.documents.batches import BatchDocument

Cron = Annotated[str, Meta(max_length=200)]
Zone = Annotated[str, Meta(max_length=100)]
MissedWord = Literal["skip", "last", "all"]
_CRON = says(
    "Minute, hour, day of the month, month and day of the week, as cron reads them.", "0 2 * * *"
)
_ZONE = says("Of the IANA database; its clock decides.", "Europe/Berlin")
_MISSED = says(
    "Which of the runs that were missed while weft was down are made up for: none, the last one, "
    "or all up to the setting `schedule_missed_max`."
)


class ScheduleDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/schedules`: a batch document that is submitted again and again."""

    cron: Annotated[Cron, _CRON]
    document: Annotated[BatchDocument, says("Submitted as its owner, at each due time.")]
    time_zone: Annotated[Zone, _ZONE] = "UTC"
    missed: Annotated[MissedWord, _MISSED] = "skip"
    name: Annotated[str | None, says("Without it that of the batch.", "nightly")] = None


class ScheduleEdit(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PATCH` of a schedule: a JSON merge patch (RFC 7396). A missing field stays unchanged."""

    cron: Annotated[Cron | UnsetType, _CRON] = UNSET
    time_zone: Annotated[Zone | UnsetType, _ZONE] = UNSET
    missed: Annotated[MissedWord | UnsetType, _MISSED] = UNSET
    name: Annotated[str | UnsetType | None, says("null: it has none.", "nightly")] = UNSET
    paused: Annotated[
        bool | UnsetType, says("Whether it is paused. What would be due meanwhile is not missed.")
    ] = UNSET


class RefusedRun(Struct, kw_only=True):
    """Why a run was not submitted."""

    code: str
    message: str
    detail: str
    hint: str


class ScheduleRun(Struct, kw_only=True):
    """A run of a schedule."""

    due_at: datetime
    by_hand: bool
    ended_at: Annotated[datetime | None, Meta(description="null: it is being submitted")]
    batch_id: Annotated[int | None, Meta(description="null: it was refused, or not submitted yet")]
    error: Annotated[RefusedRun | None, Meta(description="why it was refused")]


class Schedule(Struct, kw_only=True):
    """A schedule."""

    schedule_id: int
    name: str | None
    user: str
    billing_project: str
    cron: str
    time_zone: str
    missed: MissedWord
    state: Literal["active", "paused"]
    next_at: Annotated[datetime | None, Meta(description="null: it is paused")]
    paused_at: datetime | None
    pause_reason: Annotated[
        Literal["user", "failures", "over"] | None,
        Meta(description="`failures`: refused too often in a row; `over`: it is never due again"),
    ]
    n_failures: Annotated[int, Meta(ge=0, description="refused runs in a row")]
    n_missed: Annotated[int, Meta(ge=0, description="due times without a run")]
    created_at: datetime
    last_run: Annotated[ScheduleRun | None, Meta(description="null: none has ended")]


class ShownSchedule(Schedule, kw_only=True):
    """A schedule with all that is known of it."""

    document: Annotated[
        dict[str, Any] | None, Meta(description="the batch document; null: for its owner only")
    ]
    runs: Annotated[list[ScheduleRun], Meta(description="newest first")]


class ScheduleRemoved(Struct, kw_only=True):
    """A schedule is gone; its batches stay."""

    schedule_id: int


class ScheduleStarted(Struct, kw_only=True):
    """A run by hand was submitted."""

    schedule_id: int
    batch_id: int
    n_jobs: Count
