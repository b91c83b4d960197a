"""Classes of time limits: between which two bounds the limit of a job is.

They are few, because each class that jobs of a lane have makes a lane of its own. The limits that
people give most are classes by themselves, so what is decided by them is exact.
"""

from bisect import bisect_left
from typing import Final

ASK: Final = "timeout_s"
"""The name of the class among what a job asks for; no worker offers it."""
BOUNDS_S: Final = (
    10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400,
)  # fmt: skip


def limit_range(timeout_s: float) -> tuple[int, int | None]:
    """Return between which seconds the limits of a class are; None: there is no upper bound."""
    at = bisect_left(BOUNDS_S, timeout_s)
    if at == len(BOUNDS_S):
        return BOUNDS_S[-1], None
    most = BOUNDS_S[at]
    return most if timeout_s == most else BOUNDS_S[at - 1] if at else 0, most


def limit_class(timeout_s: float | None) -> str | None:
    """Return the class of a limit: `1800-3600` above 1800 s and at most 3600 s, `3600-3600`
    exactly this, `86400-` above it. None: there is no limit.
    """
    if timeout_s is None:
        return None
    least, most = limit_range(timeout_s)
    return f"{least}-{'' if most is None else most}"
