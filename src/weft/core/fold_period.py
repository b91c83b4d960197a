"""How long the driver waits between two folds, and between two sweeps of cancelled groups, while
there is something to do.
"""

SHORTEST_S = 0.05
LONGER_S = 0.1
LONGEST_S = 0.5
FEW_DELTAS = 500
"""A fold of this few costs about a millisecond: it may come often, so that ends show soon. While
they go on for seconds, a tenth of a second is soon enough for their end."""
GROWTH = 1.1
SHARE_MAX = 0.1
"""Folding takes at most this part of the time, unless that would let too much pile up."""


def next_fold_period_s(previous_s: float, *, deltas: int, took_s: float) -> float:
    """Return the pause after a fold, given the deltas it found and the time it took.

    Short while there are few, though it grows a little. Under load it doubles up to the longest:
    one fold of many deltas is cheaper than many folds, and it leaves fewer dead rows of the sums.
    A slow fold makes it longer sooner, but never longer than that: what is not folded costs every
    claim and every status. `previous_s`: the pause before this fold, 0 after sleep.
    """
    rested_s = took_s * (1 - SHARE_MAX) / SHARE_MAX
    if deltas < FEW_DELTAS:
        wanted_s = min(max(SHORTEST_S, previous_s * GROWTH), LONGER_S)
    else:
        wanted_s = max(SHORTEST_S, previous_s * 2)
    return min(max(wanted_s, rested_s), LONGEST_S)


JOBS_PER_S = 30_000
"""At full speed a sweep would keep one core of the server busy, for jobs that nobody waits for:
cancelled jobs do not start in any case.
"""


def sweep_pause_s(jobs: int, *, took_s: float) -> float:
    """Return the pause after settling jobs, given their number and the time it took.

    >>> sweep_pause_s(3_000, took_s=0.04)
    0.06
    >>> sweep_pause_s(3_000, took_s=0.2)
    0.0
    """
    return max(0.0, jobs / JOBS_PER_S - took_s)
