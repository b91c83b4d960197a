"""How far a billing project is with its limits: below them, slowed down, or at the end."""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

HOUR_S: Final = 3600


class Stage(StrEnum):
    """What its limits do to a project."""

    BELOW = "below"
    SLOWED = "slowed"
    """Beyond its soft limit: the weight of its jobs in fair share is halved."""
    REACHED = "reached"
    """At its limit: nothing of it starts, and what runs is stopped."""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The limits of a project, and what it spends. None: there is no such limit."""

    cost_max: Decimal | None
    cost_soft_max: Decimal | None
    spent: Decimal
    cost_per_hour: Decimal
    """Of all that is claimed."""
    stage: Stage
    """As of the last decision."""


def stage_of(one: Spending, *, is_new: bool, lookahead_s: float) -> Stage:
    """Return how far a project is.

    Its limit is reached when what runs would cost all that is left until the next look, in
    `lookahead_s`. It stays reached, though nothing runs and a little is left, until the limits are
    set again (`is_new`).
    """
    if one.cost_max is not None:
        due = one.cost_per_hour * Decimal(str(lookahead_s)) / HOUR_S
        if one.spent + due >= one.cost_max or (one.stage is Stage.REACHED and not is_new):
            return Stage.REACHED
    if one.cost_soft_max is not None and one.spent >= one.cost_soft_max:
        return Stage.SLOWED
    return Stage.BELOW
