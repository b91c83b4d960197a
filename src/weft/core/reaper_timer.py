"""When the driver looks for lost workers again."""

from datetime import datetime

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
