"""Which workers are kept for large jobs that have waited long.

Only jobs that need more than half of a worker: for others there is room soon. A kept worker claims
the job as soon as it has room for it. Until then it claims only jobs that surely end before the
time limits of what runs there make that room, so they do not delay the large one.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

LARGE: Final = 0.5
"""A job is large for a worker if it needs more than this share of its cores or memory."""
KEPT_MAX: Final = 0.5
"""At most this share of the workers of a pool is kept at a time, but one at least."""


class Running(msgspec.Struct, frozen=True):
    """An attempt that a worker has, and when its time limit ends it."""

    cpu_m: int
    memory_mib: int
    started: bool = True
    at_least_s: float | None = None
    """From now; a class of limits has two bounds. None: never."""
    at_most_s: float | None = None


class KeptJob(msgspec.Struct, frozen=True):
    """A job that a worker is kept for."""

    batch_id: int
    job_id: int
    user_id: int
    cpu_m: int
    memory_mib: int


class LongWaiting(KeptJob, frozen=True):
    """A ready job that has waited long."""

    lane_id: int
    waited_s: float


class Room(msgspec.Struct, frozen=True):
    """A worker that takes jobs."""

    incarnation_id: int
    cpu_m: int
    memory_mib: int
    lanes: tuple[int, ...]
    """Of the lanes of the jobs, those that it serves."""
    running: tuple[Running, ...] = ()
    kept_for: KeptJob | None = None

    @property
    def cpu_m_free(self) -> int:
        """Return what nothing has reserved."""
        return self.cpu_m - sum(running.cpu_m for running in self.running)

    @property
    def memory_mib_free(self) -> int:
        """Return what nothing has reserved."""
        return self.memory_mib - sum(running.memory_mib for running in self.running)


class Keep(NamedTuple):
    """A worker to be kept for a job."""

    incarnation_id: int
    batch_id: int
    job_id: int
    fill_s: float | None = None
    """For so long it may run other jobs without delaying this one; None: nobody knows."""


def keep_workers(
    jobs: Sequence[LongWaiting], workers: Sequence[Room], *, after_s: float
) -> list[Keep]:
    """Return which workers to keep from now on, beside those that are kept already.

    The job that waited longest comes first, but each user has one worker at a time. Of the workers
    that can hold a job, it gets the one where time limits make room first. If they do not make
    room everywhere, it gets the one that lacks least.
    """
    left = max(1, int(len(workers) * KEPT_MAX)) - sum(one.kept_for is not None for one in workers)
    users = {one.kept_for.user_id for one in workers if one.kept_for is not None}
    free = [one for one in workers if one.kept_for is None]
    found: list[Keep] = []
    for job in sorted(jobs, key=lambda one: (-one.waited_s, one.batch_id, one.job_id)):
        if len(found) >= left:
            break
        fitting = [one for one in free if _is_large(job, one)]
        if job.waited_s < after_s or job.user_id in users or not fitting:
            continue
        worker = _soonest(job, fitting)
        users.add(job.user_id)
        free.remove(worker)
        fill_s = _fill_s(job, worker)
        found.append(Keep(worker.incarnation_id, job.batch_id, job.job_id, fill_s))
    return found


def fill_gaps(workers: Sequence[Room]) -> list[Keep]:
    """Return for how long workers that are kept already may run other jobs, where it is known."""
    return [
        Keep(worker.incarnation_id, job.batch_id, job.job_id, fill_s)
        for worker in workers
        if (job := worker.kept_for) is not None and (fill_s := _fill_s(job, worker)) is not None
    ]


def _soonest(job: LongWaiting, workers: Sequence[Room]) -> Room:
    """Return the worker where the job should wait."""
    rooms = [(_room_s(job, one, [run.at_most_s for run in one.running]), one) for one in workers]
    if all(room_s is not None for room_s, _ in rooms):
        first_s = min(room_s for room_s, _ in rooms if room_s is not None)
        workers = [one for room_s, one in rooms if room_s == first_s]
    return min(workers, key=lambda one: (_lacks(job, one), one.incarnation_id))


def _fill_s(job: KeptJob, worker: Room) -> float | None:
    """Return how long it takes at least until time limits have made room for a job.

    What has not started may start now or be given back, so nothing is known then.
    """
    if not all(running.started for running in worker.running):
        return None
    return _room_s(job, worker, [running.at_least_s for running in worker.running])


def _room_s(job: KeptJob, worker: Room, ends_s: Sequence[float | None]) -> float | None:
    """Return when a worker has room for a job, if what runs there ends then; None: never."""
    cpu_m, memory_mib = worker.cpu_m_free, worker.memory_mib_free
    ends = sorted(
        (end_s, running.cpu_m, running.memory_mib)
        for running, end_s in zip(worker.running, ends_s, strict=True)
        if end_s is not None
    )
    for room_s, more_cpu_m, more_memory_mib in [(0.0, 0, 0), *ends]:
        cpu_m, memory_mib = cpu_m + more_cpu_m, memory_mib + more_memory_mib
        if job.cpu_m <= cpu_m and job.memory_mib <= memory_mib:
            return room_s
    return None


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
