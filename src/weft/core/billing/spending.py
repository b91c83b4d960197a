"""How far limits are used, in money or hours: below them, slowed down, or at the end."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from weft.core.text.amounts import money

HOUR_S: Final = 3600
ROOM_TICKS: Final = 2
"""A job fits below a limit that is near if what is left lasts until the second look: so it runs
until the next one at least, before it is stopped.
"""
NEAR_TICKS: Final = 3
"""A limit is near when all workers together could use what is left until the third look."""
FAR_TICKS: Final = 5
"""It is near no more when that would take them until the fifth one."""


class Measure(StrEnum):
    """In what a limit is measured: in money, or in hours of what jobs use."""

    COST = "cost"
    CPU = "cpu"
    """Core hours."""
    MEMORY = "memory"
    """GiB hours."""
    STORAGE = "storage"
    """GiB hours of disk."""
    GPU = "gpu"
    """GPU hours."""


UNITS: Final = MappingProxyType(
    {
        Measure.CPU: "core hours",
        Measure.MEMORY: "GiB hours",
        Measure.STORAGE: "GiB hours of disk",
        Measure.GPU: "GPU hours",
    }
)
"""What hours of resources are called; money has no unit."""


def amount_text(amount: float, measure: str) -> str:
    """Write an amount with its unit: `12.50`, or `100 core hours`."""
    unit = UNITS.get(Measure(measure))
    return money(amount) if unit is None else f"{amount:,.4g} {unit}"


class Stage(StrEnum):
    """What a limit does to what it limits."""

    BELOW = "below"
    SLOWED = "slowed"
    """Beyond its soft limit: the weight of its jobs in fair share is halved."""
    REACHED = "reached"
    """At its end: nothing of it starts, and what runs is stopped."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """A limit, and what was used of it, in its measure. None: there is no such limit."""

    amount_max: Decimal | None
    amount_soft_max: Decimal | None
    used: Decimal
    used_per_hour: Decimal
    """Of all that is claimed."""
    stage: Stage
    """As of the last decision."""
    near: bool = False
    """The same."""
    could_use_per_hour: Decimal = Decimal(0)
    """If all workers ran nothing but what it limits."""
    admitted_per_hour: Decimal = Decimal(0)
    """Of what it admitted and is not claimed yet."""


def stage_of(one: Spending, *, is_new: bool, lookahead_s: float) -> Stage:
    """Return how far a limit is used.

    It is reached when what runs would use all that is left until the next look, in
    `lookahead_s`. It stays reached, though nothing runs and a little is left, until the limit is
    set again (`is_new`).
    """
    if one.amount_max is not None:
        due = one.used_per_hour * Decimal(str(lookahead_s)) / HOUR_S
        if one.used + due >= one.amount_max or (one.stage is Stage.REACHED and not is_new):
            return Stage.REACHED
    if one.amount_soft_max is not None and one.used >= one.amount_soft_max:
        return Stage.SLOWED
    return Stage.BELOW


def is_near(spending: Spending, *, is_new: bool, lookahead_s: float) -> bool:
    """Return whether what starts before the next look could exceed a limit.

    Such a limit admits only what fits below it (`room_per_hour`). That no worker is there says
    nothing: those that come next would start all that waits.
    """
    if spending.amount_max is None:
        return False
    if spending.near and not (is_new or spending.could_use_per_hour):
        return True
    ticks = FAR_TICKS if spending.near and not is_new else NEAR_TICKS
    per_hour = max(spending.could_use_per_hour, spending.used_per_hour)
    soon = per_hour * ticks * Decimal(str(lookahead_s)) / HOUR_S
    return spending.used + soon >= spending.amount_max


def room_per_hour(one: Spending, *, lookahead_s: float) -> Decimal:
    """Return how much more may be used in an hour, for what is left to last until the second look.

    What runs and what was admitted is taken off.
    """
    assert one.amount_max is not None
    left = (one.amount_max - one.used) * HOUR_S / (ROOM_TICKS * Decimal(str(lookahead_s)))
    return left - one.used_per_hour - one.admitted_per_hour
