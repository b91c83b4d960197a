"""The documents about billing that the API replies with (see `answers.py`)."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from weft.wire.answers.batches import Money, ResourceCost


class ProjectCost(Struct, kw_only=True):
    """The cost of a billing project so far."""

    name: str
    closed: Annotated[bool, Meta(description="it takes no new batches")]
    cost_max: Annotated[float | None, Meta(description="its limit; null: none")]
    cost_soft_max: Annotated[
        float | None, Meta(description="beyond it the weight of its jobs is halved; null: none")
    ]
    on_limit: Annotated[
        Literal["pause", "cancel"], Meta(description="what becomes of its jobs at its limit")
    ]
    limit_state: Annotated[
        Literal["below", "near", "slowed", "paused", "cancelled"],
        Meta(description="where its limits have brought it"),
    ]
    cost_per_hour: Annotated[
        float | None, Meta(description="of all that it runs; null: it has no limits")
    ]
    limit_in_s: Annotated[
        float | None, Meta(description="when it reaches its limit at this rate; null: it does not")
    ]
    cost: Money
    cost_by_resource: list[ResourceCost]
    members: Annotated[list[str], Meta(description="names of users")]


class ProjectDeleted(Struct, kw_only=True):
    """A billing project that is in no list any more."""

    name: str


class DayCost(Struct, kw_only=True):
    """The cost of a billing project on one date."""

    date: Annotated[dt.date, Meta(description="UTC")]
    cost: Money
    cost_by_resource: list[ResourceCost]


class Rate(Struct, kw_only=True):
    """The price of one resource."""

    resource: str
    unit: Annotated[str, Meta(description="for an hour", examples=["mCPU*h"])]
    price: Annotated[float, Meta(ge=0, description="of one unit")]


class RateValues(Struct, kw_only=True):
    """What a correction changed: prices of a unit for an hour, and the time of their start."""

    cpu: float | UnsetType = UNSET
    memory: float | UnsetType = UNSET
    storage: float | UnsetType = UNSET
    gpu: float | UnsetType = UNSET
    valid_from: datetime | UnsetType = UNSET


class RateCorrection(Struct, kw_only=True):
    """A correction of prices. What was used at these prices costs the corrected ones."""

    at: datetime
    by: str
    reason: str | None
    old: RateValues
    new: RateValues


class RateCard(Struct, kw_only=True):
    """Prices and the time from which they apply."""

    version: int
    valid_from: Annotated[datetime | None, Meta(description="null: from the beginning")]
    rates: list[Rate]
    corrections: Annotated[list[RateCorrection], Meta(description="newest first")]
