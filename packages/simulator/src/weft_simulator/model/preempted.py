"""Jobs that are stopped for those of users whose queue has a priority.

Who is stopped, and when, is decided as in production (`core/scheduling/preemption.py`);
that a job causes this once until it has run is what `preempt_jobs` keeps.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from weft.core.scheduling.preemption import Host, Key, RunningJob, WaitingJob, key_of, plan_round
from weft.core.swf import TraceJob
from weft_simulator.model.machine import ASKS, Losses, SimulatedMachine
from weft_simulator.model.outcome import Stop
from weft_simulator.model.ready_jobs import ReadyJobs

FIRST_JOBS: Final = 20
"""Jobs of each user and size at which a look looks."""
TENANT: Final = 1
BATCH: Final = 1


@dataclass(frozen=True, kw_only=True)
class Priorities:
    """Which users wait in queues with a priority; all other jobs may be stopped for theirs."""

    by_user: Mapping[int, int]
    after_s: float
    losses_max: int


class Preemptions:
    """Decides who is stopped, and keeps what was decided."""

    def __init__(self, jobs: Sequence[TraceJob], priorities: Priorities, losses: Losses) -> None:
        self._jobs = jobs
        self._rules = priorities
        self._losses = losses
        self._since: Mapping[Key, float] = {}
        self._causes: set[Key] = set()
        self._n_runs: dict[int, int] = {}
        self.stops: list[Stop] = []

    def note_start(self, job: int) -> None:
        """Note that a job runs: it may stop others again when it waits the next time."""
        self._n_runs[job] = self._n_runs.get(job, 0) + 1

    def due_at(self, now: float) -> float:
        """Return when somebody will have waited long enough."""
        dues = (at + self._rules.after_s for at in self._since.values())
        return min((at for at in dues if at > now), default=math.inf)

    def look(
        self, now: float, ready: ReadyJobs, machines: Sequence[SimulatedMachine]
    ) -> Sequence[Stop]:
        """Return which jobs are stopped now."""
        able = [machine for machine in machines if machine.state == "active"]
        waiting = [
            one for job in ready.heads(FIRST_JOBS) if (one := self._waiting(job, ready.asks(job)))
        ]
        hosts = [self._host(now, machine, ready) for machine in able]
        if not waiting and not any(host.leases for host in hosts):
            self._since = {}
            return []
        found = plan_round(
            waiting,
            hosts,
            self._since,
            now=now,
            after_s=self._rules.after_s,
            losses_max=self._rules.losses_max,
        )
        self._since = found.since
        began = {job: at for machine in able for job, at in machine.started.items()}
        stops = [
            Stop(
                at_s=now,
                job=job.job_id,
                began_s=began[job.job_id],
                machine=plan.worker,
                cause=plan.waiting.job_id,
            )
            for plan in found.plans
            for job in plan.stopped
        ]
        self._causes.update(key_of(plan.waiting) for plan in found.plans)
        self.stops += stops
        return stops

    def _waiting(self, job: int, asks: int, *, machine: str = "") -> WaitingJob | None:
        """Return a job as one that may stop others, if it may."""
        one = self._jobs[job]
        priority = self._rules.by_user.get(one.user)
        key = BATCH, job, self._n_runs.get(job, 0)
        if priority is None or key in self._causes:
            return None
        return WaitingJob(
            batch_id=key[0],
            job_id=key[1],
            attempt=key[2],
            worker=machine,
            tenant_id=TENANT,
            priority=priority,
            cpu_m=one.cpu_m,
            memory_mib=one.memory_mib,
            asks=ASKS[asks],
        )

    def _host(self, now: float, machine: SimulatedMachine, ready: ReadyJobs) -> Host:
        running = [
            self._running(job, ready.asks(job), runs_s=now - at)
            for job, at in machine.started.items()
        ]
        leases: list[WaitingJob] = []
        for job in (machine.pending, machine.kept):
            if job is None:
                continue
            if lease := self._waiting(job, ready.asks(job), machine=machine.name):
                leases.append(lease)
            else:
                running.append(self._running(job, ready.asks(job)))
        return Host(
            name=machine.name,
            cpu_m=machine.flavour.cpu_m,
            memory_mib=machine.flavour.memory_mib,
            offers=machine.offers,
            running=tuple(running),
            leases=tuple(leases),
        )

    def _running(self, job: int, asks: int, runs_s: float | None = None) -> RunningJob:
        one = self._jobs[job]
        return RunningJob(
            batch_id=BATCH,
            job_id=job,
            attempt=1,
            tenant_id=TENANT,
            priority=self._rules.by_user.get(one.user),
            cpu_m=one.cpu_m,
            memory_mib=one.memory_mib,
            asks=ASKS[asks],
            losses=self._losses.by_job.get(job, 0),
            runs_s=runs_s or 0.0,
            may_be_stopped=runs_s is not None,
        )
