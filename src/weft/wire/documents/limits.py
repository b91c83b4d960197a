"""The documents about limits of what is used."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.description import says

CostMax = Annotated[float, Meta(ge=0, le=1e15)]
OnLimit = Literal["pause", "cancel"]
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
