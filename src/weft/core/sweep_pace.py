"""How fast the jobs of cancelled groups are settled."""

JOBS_PER_S = 30_000
"""At full speed a sweep would take one core of the server for itself, for jobs that nobody waits
for: what is cancelled does not start in any case.
"""


def sweep_pause_s(jobs: int, *, took_s: float) -> float:
    """Return how long to leave the server to others, after settling so many jobs in so much time.

    >>> sweep_pause_s(3_000, took_s=0.04)
    0.06
    >>> sweep_pause_s(3_000, took_s=0.2)
    0.0
    """
    return max(0.0, jobs / JOBS_PER_S - took_s)
