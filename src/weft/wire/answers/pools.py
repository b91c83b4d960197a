"""The answers about pools."""

import datetime as dt
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.core.pools.pool import Pool, PoolDifference
from weft.wire.answers.field_types import Count, Money


class PoolAnswer(Struct, kw_only=True):
    """A pool, and how many machines it has."""

    pool: str
    plan: Annotated[Pool | None, Meta(description="null: nobody described it")]
    machines: Annotated[dict[str, int], Meta(description="by state, without deleted ones")]


class Machine(Struct, kw_only=True):
    """A machine that a provider made for a pool."""

    machine: str
    flavour: str
    region: str
    provider: str
    provider_id: str | None
    state: Literal["creating", "active", "cordoned", "deleting"]
    reason: str
    created_at: datetime
    changed_at: Annotated[datetime, Meta(description="since when it has its state")]
    price_per_hour: str
    for_one_job: bool
    waits: Annotated[
        str | None, Meta(description="why its provider has not begun it; null: it has")
    ]


class ShownPool(PoolAnswer, kw_only=True):
    """A pool with its machines."""

    machine_list: Annotated[list[Machine], Meta(description="oldest first")]


class PoolChange(Struct, kw_only=True):
    """Something that was decided about a pool."""

    at: datetime
    kind: Literal["apply", "create", "cordon", "uncordon", "delete", "gone", "fail"]
    machine: str | None
    reason: str


class PoolCost(Struct, kw_only=True):
    """What the machines of a flavour cost on one date."""

    date: Annotated[dt.date, Meta(description="UTC")]
    flavour: Annotated[str, Meta(description="empty: machines that weft has not asked for")]
    machine_hours: Annotated[float, Meta(ge=0, description="how long they existed")]
    used_hours: Annotated[
        float,
        Meta(ge=0, description="the part that jobs reserved, by cpu or memory, whichever is more"),
    ]
    cost: Money
    used_cost: Money
    idle_cost: Annotated[float, Meta(ge=0, description="the rest of the cost")]


class PoolShare(Struct, kw_only=True):
    """What a user runs in a pool, and what would be fair."""

    user: str
    weight: Annotated[float, Meta(ge=0, description="who has twice the weight runs twice as much")]
    n_ready: Annotated[int, Meta(description="jobs that could start")]
    ready_cpu: Annotated[float, Meta(description="cores that these jobs ask for")]
    running_cpu: Annotated[float, Meta(description="cores that running jobs have reserved")]
    fair_cpu: Annotated[
        float | None,
        Meta(
            description="cores, if those that are in use were shared fairly; null: more than "
            "1,000 users have work in the pool"
        ),
    ]


class PoolSurplus(Struct, kw_only=True):
    """A pool that has more machines than it may have."""

    pool: str
    n_machines: Count
    max_workers: Count


class PoolsSaved(Struct, kw_only=True):
    """What saving pools has changed, or would change."""

    changes: list[PoolDifference]
    surplus: Annotated[
        list[PoolSurplus], Meta(description="what is too many goes as its jobs end")
    ]
    dry_run: bool
