"""When the driver looks for lost workers again."""

from datetime import datetime

SOONEST_S = 0.5


def reaper_delay_s(due_at: datetime, now: datetime, *, grace_s: float) -> float:
    """Return how long to wait for a worker that is lost at `due_at` if it stays silent.

    `due_at` is the database's time, `now` may be of another clock: a difference between the two
    makes the look early or late, never a busy loop and never later than the grace. Whether a
    worker is lost is decided in the database.
    """
    return min(max((due_at - now).total_seconds(), SOONEST_S), grace_s)
