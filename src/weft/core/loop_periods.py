"""How long the driver waits between two folds, between two sweeps of cancelled groups while there
is something to do, and until it looks for lost workers again.
"""

from datetime import datetime

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


SOONEST_S = 0.5
RETURN_S = 12.0
"""How long the driver waits for workers that could not be heard because the database, or all of
weft, was away: more than a heartbeat and the pauses between tries. Otherwise a slow start of
everything would lose the jobs that ran on meanwhile (`--detach-jobs`)."""


def first_look_s(grace_s: float) -> float:
    """Return how long no worker is declared lost after an outage."""
    return min(RETURN_S, grace_s / 2)


def delay_s(due_at: datetime, now: datetime, *, longest_s: float) -> float:
    """Return how long to wait until a date, as that at which a silent worker is lost.

    `due_at` is the database's time, `now` may be of another clock: a difference between the two
    makes the look early or late, never a busy loop and never later than `longest_s`. Whether
    something is due is decided in the database.
    """
    return min(max((due_at - now).total_seconds(), SOONEST_S), longest_s)
