"""Whom a driver of `interleavings` may stop, and when, by what its looks showed."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from benches.simulated_tables import LOSSES_MAX
from weft.core.scheduling.preemption import Host, Preemption, RunningJob, WaitingJob

PREEMPT_AFTER_S: Final = 5.0
ROUNDING_S: Final = 1e-3

Since = Mapping[tuple[int, int], float]
"""By job and its last attempt that had started."""


class Looks:
    """Since when each job has lacked room, look by look."""

    def __init__(self) -> None:
        self._may: Since = {}
        """It had perhaps none: not even if all that comes before it were on one worker with it."""
        self._must: Since = {}
        """It had none, though nothing else waited."""

    def check(
        self,
        plans: Sequence[Preemption],
        waiting: Sequence[WaitingJob],
        hosts: Sequence[Host],
        now: float,
    ) -> None:
        """Each is stopped once, for a higher one that has room then and waited long enough, and
        can start again. The highest of all that waited so long has others stopped, if that helps.
        """
        every = [*(lease for host in hosts for lease in host.leases), *waiting]
        self._note(every, hosts, now)
        _check_stops(plans, {host.name: host for host in hosts})
        for plan in plans:
            waits_s = now - self._may.get(_key(plan.waiting), now)
            assert waits_s > PREEMPT_AFTER_S - ROUNDING_S, (
                f"jobs are stopped for {plan.waiting.job_id}, which lacks room for {waits_s:g} s"
            )
        top = max(every, key=lambda job: job.priority, default=None)
        if top is not None and top not in [plan.waiting for plan in plans]:
            waits_s = now - self._must.get(_key(top), now)
            is_due = waits_s > PREEMPT_AFTER_S + ROUNDING_S
            assert not is_due or not any(_yields(host, top) for host in _able(top, hosts)), (
                f"job {top.job_id} lacks room for {waits_s:g} s, and nothing is stopped for it"
            )

    def _note(self, every: Sequence[WaitingJob], hosts: Sequence[Host], now: float) -> None:
        may, must = list[WaitingJob](), list[WaitingJob]()
        for job in every:
            most_m = max((_free_m(host) for host in _able(job, hosts)), default=-math.inf)
            if most_m < sum(one.cpu_m for one in every if one.priority >= job.priority):
                may.append(job)
            if most_m < job.cpu_m:
                must.append(job)
        self._may = {_key(job): self._may.get(_key(job), now) for job in may}
        self._must = {_key(job): self._must.get(_key(job), now) for job in must}


def _check_stops(plans: Sequence[Preemption], hosts: Mapping[str, Host]) -> None:
    stopped = [one for plan in plans for one in plan.stopped]
    assert len({one.job_id for one in stopped}) == len(stopped)
    assert all(one.may_be_stopped and one.losses < LOSSES_MAX for one in stopped)
    for plan in plans:
        host = hosts[plan.worker]
        left = [one.cpu_m for one in host.running if one not in stopped]
        assert plan.stopped
        assert plan.waiting.cpu_m + sum(left) <= host.cpu_m, "stopped, and no room"
        for one in plan.stopped:
            assert _is_below(one, plan.waiting), (
                f"job {one.job_id} is stopped for {plan.waiting.job_id}, which is not above "
                "it: they would stop each other for ever"
            )


def _key(job: WaitingJob) -> tuple[int, int]:
    return job.job_id, job.attempt


def _able(job: WaitingJob, hosts: Sequence[Host]) -> list[Host]:
    return [host for host in hosts if job.worker in ("", host.name)]


def _free_m(host: Host) -> int:
    return host.cpu_m - sum(one.cpu_m for one in host.running)


def _is_below(one: RunningJob, job: WaitingJob) -> bool:
    return one.priority is None or one.priority < job.priority


def _yields(host: Host, job: WaitingJob) -> bool:
    """Say whether what may be stopped is enough, though others take all that is free."""
    may = [one for one in host.running if one.may_be_stopped and one.losses < LOSSES_MAX]
    freed_m = sum(one.cpu_m for one in may if _is_below(one, job))
    return min(_free_m(host), 0) + freed_m >= job.cpu_m
