"""Classes of time limits: between which two bounds the limit of a job is.

They are few, because each class that jobs of a lane have makes a lane of its own. The limits that
people give most are classes by themselves, so what is decided by them is exact.
"""

from bisect import bisect_left, bisect_right
from typing import Final

ASK: Final = "timeout_s"
"""The name of the class among what a job asks for. Only a worker whose machine ends offers it: the
longest time limit that ends before.
"""
BOUNDS_S: Final = (
    10,
    30,
    60,
    120,
    300,
    600,
    900,
    1800,
    3600,
    7200,
    14_400,
    28_800,
    43_200,
    86_400,
)

MARGIN_S: Final = 180
"""Of the life of a machine that ends: a minute each for the start of its worker, until the jobs
come for which it is made (`weft._ends_in_time`), and to end in order.
"""


def limit_range(timeout_s: float) -> tuple[int, int | None]:
    """Return between which seconds the limits of a class are; None: there is no upper bound."""
    at = bisect_left(BOUNDS_S, timeout_s)
    if at == len(BOUNDS_S):
        return BOUNDS_S[-1], None
    most = BOUNDS_S[at]
    return most if timeout_s == most else BOUNDS_S[at - 1] if at else 0, most


def longest_in(walltime_s: float) -> int:
    """Return the longest time limit of jobs that a machine takes which ends after this time."""
    return max(int(walltime_s) - MARGIN_S, 0)


def longest_limit(longest_s: int) -> int:
    """Return the longest limit of which it is certain, by its class, that it is no longer."""
    return BOUNDS_S[bisect_right(BOUNDS_S, longest_s) - 1]


def ends_within(limit: object, longest_s: int) -> bool:
    """Say whether all jobs of a class have ended after some seconds. Without a limit none has."""
    _, _, most = str(limit or "").partition("-")
    return most != "" and int(most) <= longest_s


def limit_class(timeout_s: float | None) -> str | None:
    """Return the class of a limit: `1800-3600` above 1800 s and at most 3600 s, `3600-3600`
    exactly this, `86400-` above it. None: there is no limit.
    """
    if timeout_s is None:
        return None
    least, most = limit_range(timeout_s)
    return f"{least}-{'' if most is None else most}"
