"""Which workers are kept for large jobs that have waited long.

Only jobs that need more than half of a worker: for others there is room soon. A kept worker claims
the job at once and starts nothing else before it, so it starts when enough of what runs there has
ended.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

LARGE: Final = 0.5
"""A job is large for a worker if it needs more than this share of its cores or memory."""
KEPT_MAX: Final = 0.5
"""At most this share of the workers of a pool is kept at a time, but one at least."""


class LongWaiting(msgspec.Struct, frozen=True):
    """A ready job that has waited long."""

    batch_id: int
    job_id: int
    user_id: int
    lane_id: int
    cpu_m: int
    memory_mib: int
    waited_s: float


class Room(msgspec.Struct, frozen=True):
    """A worker that takes jobs."""

    incarnation_id: int
    cpu_m: int
    memory_mib: int
    cpu_m_free: int
    memory_mib_free: int
    lanes: tuple[int, ...]
    """Of the lanes of the jobs, those that it serves."""
    kept_for: int | None = None
    """The user of the job that it is kept for."""


class Keep(NamedTuple):
    """A worker to be kept for a job."""

    incarnation_id: int
    batch_id: int
    job_id: int


def keep_workers(
    jobs: Sequence[LongWaiting], workers: Sequence[Room], *, after_s: float
) -> list[Keep]:
    """Return which workers to keep from now on, beside those that are kept already.

    The job that waited longest comes first, but each user has one worker at a time. Of the workers
    that can hold a job, it gets the one that lacks least.
    """
    left = max(1, int(len(workers) * KEPT_MAX)) - sum(one.kept_for is not None for one in workers)
    users = {one.kept_for for one in workers}
    free = [one for one in workers if one.kept_for is None]
    found: list[Keep] = []
    for job in sorted(jobs, key=lambda one: (-one.waited_s, one.batch_id, one.job_id)):
        if len(found) >= left:
            break
        fitting = [one for one in free if _is_large(job, one)]
        if job.waited_s < after_s or job.user_id in users or not fitting:
            continue
        worker = min(fitting, key=lambda one: (_lacks(job, one), one.incarnation_id))
        users.add(job.user_id)
        free.remove(worker)
        found.append(Keep(worker.incarnation_id, job.batch_id, job.job_id))
    return found


def _is_large(job: LongWaiting, worker: Room) -> bool:
    """Say whether a worker can hold a job, and whether that is large for it."""
    return (
        job.lane_id in worker.lanes
        and job.cpu_m <= worker.cpu_m
        and job.memory_mib <= worker.memory_mib
        and (job.cpu_m > LARGE * worker.cpu_m or job.memory_mib > LARGE * worker.memory_mib)
    )


def _lacks(job: LongWaiting, worker: Room) -> float:
    """Return the share of a worker that has to become free before the job fits."""
    return max(
        0.0,
        (job.cpu_m - worker.cpu_m_free) / worker.cpu_m,
        (job.memory_mib - worker.memory_mib_free) / worker.memory_mib,
    )
