"""How long to wait before something that failed is tried again."""

STABLE_S = 5.0
"""A process that lived this long was well: its next death counts as the first."""

RESTART_FIRST_S = 0.2
RESTART_LONGEST_S = 30.0


def backoff_s(failures: int, *, first_s: float, longest_s: float, jitter: float) -> float:
    """Return the delay after this number of failures in a row (1 and more).

    It doubles from `first_s` to `longest_s`. `jitter` in [0, 1) takes up to half of it away, so
    that those who failed together do not come back together.
    """
    doublings = min(failures - 1, 30)
    return min(first_s * float(2**doublings), longest_s) * (1 - jitter / 2)


def restart_after(deaths: int, *, lived_s: float, jitter: float) -> tuple[int, float]:
    """Return how many deaths in a row it is now, and the delay before the next start.

    `deaths`: those before this one. The first is repaired at once; later ones wait longer.
    """
    now = 1 if lived_s >= STABLE_S else deaths + 1
    if now == 1:
        return now, 0.0
    return now, backoff_s(
        now - 1, first_s=RESTART_FIRST_S, longest_s=RESTART_LONGEST_S, jitter=jitter
    )
