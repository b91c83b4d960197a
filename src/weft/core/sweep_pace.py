"""How fast the jobs of cancelled groups are settled."""

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
