"""The answers about billing projects."""

import datetime as dt
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.answers.billing import ResourceCost
from weft.wire.answers.field_types import Money


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
