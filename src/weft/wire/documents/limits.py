"""Documents about billing projects, limits of what is used, quotas, licences and incidents."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.core.scheduling.offers import AMOUNT_MAX
from weft.wire.description import says
from weft.wire.documents.users import Name

CostMax = Annotated[float, Meta(ge=0, le=1e15)]
OnLimit = Literal["pause", "cancel"]


class ProjectDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/billing-projects`: a new billing project."""

    name: Annotated[Name, says("Unique in the tenant without regard to case.", "genomics")]
    cost_max: Annotated[CostMax | None, says("What it may cost; null: no limit.", 500)] = None


class ProjectEdit(Struct, forbid_unknown_fields=True):
    """`PATCH /v1/billing-projects/{p}`: what changes."""

    closed: Annotated[bool | UnsetType, says("Whether it takes no new batches and schedules.")] = (
        UNSET
    )
    cost_max: Annotated[
        CostMax | UnsetType | None, says("What it may cost; null: no limit.", 500)
    ] = UNSET
    cost_soft_max: Annotated[
        CostMax | UnsetType | None,
        says("Beyond this cost, at most `cost_max`, its jobs weigh half; null: never.", 400),
    ] = UNSET
    on_limit: Annotated[
        OnLimit | UnsetType, says("Whether its batches are paused or cancelled at its limit.")
    ] = UNSET


MeasureWord = Literal["cost", "cpu", "memory", "storage", "gpu"]


class LimitEdit(Struct, forbid_unknown_fields=True):
    """The changes of a limit."""

    measure: Annotated[
        MeasureWord,
        says(
            "Of what: money, or core hours, GiB hours of memory or of disk, GPU hours; each has a "
            "limit of its own.",
            "cpu",
        ),
    ] = "cost"
    amount_max: Annotated[
        CostMax | UnsetType | None, says("How much may be used; null: any amount.", 1000)
    ] = UNSET
    amount_soft_max: Annotated[
        CostMax | UnsetType | None,
        says("Beyond this amount, at most `amount_max`, the jobs weigh half; null: never.", 800),
    ] = UNSET
    on_limit: Annotated[
        OnLimit | UnsetType,
        says("Whether jobs wait until the limit is raised, or are cancelled, at the limit."),
    ] = UNSET
    until: Annotated[
        Annotated[datetime, Meta(tz=True)] | UnsetType | None,
        says(
            "Then there is no limit any more (RFC 3339); null: it stays.", "2027-01-01T00:00:00Z"
        ),
    ] = UNSET


class UseLimit(Struct, kw_only=True):
    """A limit of what a billing project, a user, a batch or a group uses."""

    id: int
    kind: Annotated[Literal["project", "user", "batch", "group"], Meta(description="whose it is")]
    project: Annotated[str | None, Meta(description="null: it is not of a billing project")]
    user: Annotated[str | None, Meta(description="null: it is not of a user")]
    batch_id: Annotated[int | None, Meta(description="null: it is not of a batch or a group")]
    group_id: Annotated[int | None, Meta(description="0: of the batch")]
    path: Annotated[str | None, Meta(description="of the group; the name of a set")]
    measure: Annotated[MeasureWord, Meta(description="money, or hours of this resource")]
    amount_max: Annotated[float | None, Meta(description="null: none")]
    amount_soft_max: Annotated[
        float | None, Meta(description="beyond it the weight of the jobs is halved; null: none")
    ]
    on_limit: Annotated[OnLimit, Meta(description="what becomes of the jobs at the limit")]
    until: Annotated[datetime | None, Meta(description="when it ends; null: it stays")]
    limit_state: Annotated[
        Literal["below", "near", "slowed", "paused", "cancelled"],
        Meta(description="where it has brought them"),
    ]
    amount: Annotated[float, Meta(description="used until now")]
    amount_per_hour: Annotated[float, Meta(description="of all that runs")]
    limit_in_s: Annotated[
        float | None, Meta(description="when it is reached at this rate; null: it is not")
    ]


Places = Annotated[int, Meta(ge=0, le=AMOUNT_MAX)]


class LicenceDocument(Struct, forbid_unknown_fields=True):
    """`PUT /v1/licences/{l}`: how many there are."""

    n: Annotated[Places, says("What jobs may have at a time, in all pools together.", 5)]


Jobs = Annotated[int, Meta(ge=1, le=2_000_000_000)]


class ReleaseDocument(Struct, forbid_unknown_fields=True):
    """`POST /v1/conditions/{c}/release`: how many jobs go on without a test."""

    n: Annotated[Jobs, says("How many jobs go on, those that are due first.", 10)]


Most = Annotated[int, Meta(ge=0, le=10**15)]
Cores = Annotated[float, Meta(ge=0, le=1_000_000)]
Used = Annotated[int | None, Meta(description="null: not for this caller, or not asked for")]


class QuotaEdit(Struct, forbid_unknown_fields=True):
    """The changes of a quota."""

    jobs: Annotated[
        Most | UnsetType | None,
        says("How many jobs may be there that have not ended; null: any number.", 10_000),
    ] = UNSET
    batches: Annotated[
        Most | UnsetType | None,
        says("How many batches may have such jobs, or none yet; null: any number.", 100),
    ] = UNSET
    cores: Annotated[
        Cores | UnsetType | None,
        says(
            "How many cores the jobs that run at the same time may have; null: any number.",
            16,
            0.5,
        ),
    ] = UNSET
    bytes: Annotated[
        Most | UnsetType | None,
        says(
            "How much may be stored: output of jobs, specs and payloads of batches that are "
            "there, those that were sent and not committed included; null: any number.",
            10 * 2**30,
            unit="bytes",
        ),
    ] = UNSET


class Quota(Struct, kw_only=True):
    """How much there may be at a time, and how much there is."""

    kind: Annotated[
        Literal["tenant", "each_user", "user"],
        Meta(
            description="tenant: all users together; each_user: users as far as their own quota "
            "says nothing; user: what counts for this one"
        ),
    ]
    name: Annotated[str | None, Meta(description="of the tenant or the user")]
    jobs: Annotated[int | None, Meta(description="null: any number")]
    batches: Annotated[int | None, Meta(description="null: any number")]
    cores: Annotated[float | None, Meta(description="null: any number")]
    bytes: Annotated[int | None, Meta(description="null: any number")]
    n_jobs: Used
    n_batches: Annotated[
        int | None,
        Meta(
            description="that have such jobs, or none yet; null: not for this caller, or not "
            "asked for"
        ),
    ]
    n_cores: Annotated[
        float | None,
        Meta(description="of jobs that run; null: not for this caller, or not asked for"),
    ]
    n_bytes: Annotated[
        int | None,
        Meta(
            description="stored, with what was sent and is not committed; null: not for this "
            "caller, or not asked for"
        ),
    ]
