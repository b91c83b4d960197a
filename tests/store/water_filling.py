"""The rule of fair share, written down a second time: to compare claims with."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Demand:
    """What one user runs and asks for, in mCPU."""

    running_m: int
    ready_m: int
    weight: int = 1


def water_filling(users: Sequence[Demand], free_m: int) -> list[Fraction]:
    """Return each user's share of what is free.

    Whoever runs least in relation to the weight is raised first, until it reaches the next one;
    from there on both are raised together, and so on, until nothing is free or all jobs run.
    """
    shares = [Fraction(0)] * len(users)
    left = Fraction(free_m)
    while left and (hungry := [n for n, one in enumerate(users) if shares[n] < one.ready_m]):
        load = [
            (one.running_m + share) / one.weight for one, share in zip(users, shares, strict=True)
        ]
        level = min(load[n] for n in hungry)
        lowest = [n for n in hungry if load[n] == level]
        above = [load[n] for n in hungry if load[n] > level]
        weight = sum(users[n].weight for n in lowest)
        rise = min(
            [left / weight, *(one - level for one in above)]
            + [Fraction(users[n].ready_m - shares[n]) / users[n].weight for n in lowest]
        )
        for n in lowest:
            shares[n] += rise * users[n].weight
        left -= rise * weight
    return shares
