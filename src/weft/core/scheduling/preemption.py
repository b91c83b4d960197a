"""Which running jobs make room for waiting ones of queues of higher priority.

A job is stopped only if that lets a waiting job start. A waiting job causes this once: if others
take the room, it waits as everybody does, until it has run.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from weft.core.scheduling.offers import Ask, Offer, serves

Key = tuple[int, int, int]
"""Batch, job, and the last attempt that had started."""


class _Job(msgspec.Struct, frozen=True, kw_only=True):
    batch_id: int
    job_id: int
    attempt: int = 0
    """Its last attempt that had started; 0: none had."""
    tenant_id: int
    cpu_m: int
    memory_mib: int
    asks: Mapping[str, Ask] = {}


class WaitingJob(_Job, frozen=True, kw_only=True):
    """A job of a queue with a priority that has not started."""

    worker: str = ""
    """Which has claimed it: it starts there only. Empty: it is ready."""
    priority: int
    """Of its queue."""


class RunningJob(_Job, frozen=True, kw_only=True):
    """A job that a worker has."""

    priority: int | None = None
    """Of its queue; None: below all others."""
    losses: int = 0
    runs_s: float = 0.0
    may_be_stopped: bool = False
    """It says so, has started, and is not being stopped already."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A worker that takes jobs."""

    name: str
    cpu_m: int
    memory_mib: int
    offers: Mapping[str, Offer] = {}
    running: tuple[RunningJob, ...] = ()
    leases: tuple[WaitingJob, ...] = ()
    """What it has claimed, beside what runs."""


class Preemption(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs to be stopped on one worker, and the job for which this is done."""

    waiting: WaitingJob
    worker: str
    stopped: tuple[RunningJob, ...]


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """What follows from a look at a pool."""

    since: Mapping[Key, float]
    """Since when each job has had no room."""
    plans: Sequence[Preemption]


def plan_round(
    waiting: Sequence[WaitingJob],
    hosts: Sequence[Host],
    since: Mapping[Key, float],
    *,
    now: float,
    after_s: float,
    losses_max: int,
) -> Round:
    """Stop jobs for those that have had no room for `after_s`.

    A job that a worker has claimed waits as well: the worker takes nothing else meanwhile.
    """
    every = [*(lease for host in hosts for lease in host.leases), *waiting]
    left = {key_of(job): since.get(key_of(job), now) for job in without_room(every, hosts)}
    due = [job for job in every if left.get(key_of(job), -math.inf) + after_s <= now]
    return Round(since=left, plans=plan_preemptions(due, hosts, losses_max=losses_max))


def key_of(job: WaitingJob) -> Key:
    """Return what a job is known by until it has run."""
    return job.batch_id, job.job_id, job.attempt


def without_room(waiting: Sequence[WaitingJob], hosts: Sequence[Host]) -> list[WaitingJob]:
    """Return the jobs that do not fit beside what runs, in the order of their priority."""
    return _place(waiting, _rooms(hosts))


def plan_preemptions(
    waiting: Sequence[WaitingJob], hosts: Sequence[Host], *, losses_max: int
) -> list[Preemption]:
    """Return which jobs to stop so that waiting ones fit, each job at most once.

    A job is stopped only for one of the same tenant in a queue of higher priority, and never if it
    could not start again after this loss. Of several choices the one is taken that stops the
    fewest jobs, and of these the one that loses the least time.
    """
    rooms = _rooms(hosts)
    preemptions = []
    for job in _place(waiting, rooms):
        choices = [
            (room, stopped)
            for room in _able(job, rooms)
            if (stopped := room.to_stop(job, losses_max=losses_max))
        ]
        if not choices:
            continue
        room, stopped = min(choices, key=lambda choice: _loss(choice[1]))
        room.stop(stopped)
        room.take(job)
        preemptions.append(Preemption(waiting=job, worker=room.host.name, stopped=tuple(stopped)))
    return preemptions


class _Room:
    """What is free on a worker while jobs are placed."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.running = list(host.running)
        self.free = {"cpu_m": host.cpu_m, "memory_mib": host.memory_mib} | {
            name: offer for name, offer in host.offers.items() if isinstance(offer, int)
        }
        for job in host.running:
            self._change(job, -1)

    def take(self, job: WaitingJob) -> None:
        self._change(job, -1)

    def stop(self, jobs: Sequence[RunningJob]) -> None:
        for job in jobs:
            self.running.remove(job)
            self._change(job, 1)

    def fits(self, job: WaitingJob, stopped: Sequence[RunningJob] = ()) -> bool:
        """Return whether the job has room once these are stopped."""
        if not serves(self.host.offers, job.asks):
            return False
        given = [self._needs(one) for one in stopped]
        return all(
            amount <= self.free[name] + sum(one.get(name, 0) for one in given)
            for name, amount in self._needs(job).items()
        )

    def to_stop(self, job: WaitingJob, *, losses_max: int) -> list[RunningJob]:
        """Return the jobs that have to be stopped; empty: that would not help."""
        mine = [one for one in self.running if _may_stop(one, job, losses_max)]
        mine.sort(key=lambda one: (one.priority is not None, one.priority or 0, one.runs_s))
        if not self.fits(job, mine):
            return []
        needed = list(mine)
        for one in reversed(mine):
            less = [other for other in needed if other is not one]
            if self.fits(job, less):
                needed = less
        return needed

    def _needs(self, job: WaitingJob | RunningJob) -> dict[str, int]:
        amounts = {
            name: ask
            for name, ask in job.asks.items()
            if isinstance(ask, int) and name in self.free
        }
        slots = {"slots": 1} if "slots" in self.free else {}
        return {"cpu_m": job.cpu_m, "memory_mib": job.memory_mib, **amounts, **slots}

    def _change(self, job: WaitingJob | RunningJob, sign: int) -> None:
        for name, amount in self._needs(job).items():
            self.free[name] += sign * amount


def _rooms(hosts: Sequence[Host]) -> Mapping[str, _Room]:
    return {host.name: _Room(host) for host in hosts}


def _able(job: WaitingJob, rooms: Mapping[str, _Room]) -> Iterable[_Room]:
    return (rooms[job.worker],) if job.worker else rooms.values()


def _place(waiting: Sequence[WaitingJob], rooms: Mapping[str, _Room]) -> list[WaitingJob]:
    """Place jobs where there is room; return the others, the highest priority first."""
    left = []
    for job in sorted(waiting, key=lambda one: -one.priority):
        room = next((room for room in _able(job, rooms) if room.fits(job)), None)
        if room is None:
            left.append(job)
        else:
            room.take(job)
    return left


def _may_stop(one: RunningJob, job: WaitingJob, losses_max: int) -> bool:
    is_lower = one.priority is None or one.priority < job.priority
    return (
        one.may_be_stopped
        and is_lower
        and one.tenant_id == job.tenant_id
        and one.losses < losses_max
    )


def _loss(stopped: Sequence[RunningJob]) -> tuple[int, float]:
    return len(stopped), sum(job.runs_s for job in stopped)
