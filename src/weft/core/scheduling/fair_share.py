"""How cpu that is free is shared among users: whoever runs least is served first.

All are raised to one level of running mCPU divided by weight ("water-filling"), those with less
work only as far as it reaches. SQL says the same (`weft._fair_shares`, for claims), and a test
compares the two.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple


class UserWork(NamedTuple):
    """What one user runs and asks for."""

    running_m: int
    ready_m: int
    weight: float = 1

    @property
    def load(self) -> float:
        """Return what orders users: whoever has least comes first."""
        return self.running_m / self.weight


def fair_shares(users: Sequence[UserWork], budget_m: int) -> list[int]:
    """Return the share of each user in mCPU, rounded up and at most what its jobs ask for."""
    level = _water_level(users, budget_m)
    if level is None:
        return [user.ready_m for user in users]
    return [
        min(user.ready_m, max(0, math.ceil((level - user.load) * user.weight))) for user in users
    ]


def _water_level(users: Sequence[UserWork], budget_m: int) -> float | None:
    """Return the level to which the budget raises users; None: it is enough for all their jobs."""
    steps = []
    for user in users:
        steps.append((user.load, user.weight))
        steps.append((user.load + user.ready_m / user.weight, -user.weight))
    steps.sort(key=lambda step: (step[0], -step[1]))
    left, slope, before = float(budget_m), 0.0, 0.0
    for level, change in steps:
        rise = slope * (level - before)
        if slope and rise >= left:
            return before + left / slope
        left -= rise
        slope += change
        before = level
    return None
