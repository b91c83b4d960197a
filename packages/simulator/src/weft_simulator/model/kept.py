"""Machines that are kept for large jobs which have waited long.

Who is kept, and for how long it may run others, is decided as in production
(`core/pools/keep.py`); what a kept machine claims is what `claim_reserved` says.
"""

from collections.abc import Sequence
from typing import Final

from weft.core.pools.keep import KeptJob, LongWaiting, Room, Running, fill_gaps, keep_workers
from weft.core.scheduling.time_limits import limit_range
from weft.core.swf import TraceJob
from weft_simulator.model.machine import SimulatedMachine
from weft_simulator.model.ready_jobs import ReadyJobs

LOOK_S: Final = 10.0
"""Between two looks at least, as in the driver."""
FIRST_JOBS: Final = 20
"""Jobs of each user and size at which a look looks."""


class KeptMachines:
    """Keeps machines, and claims for them."""

    def __init__(self, jobs: Sequence[TraceJob], after_s: float) -> None:
        self._jobs = jobs
        self._after_s = after_s
        self._next_s = 0.0

    def is_due(self, now: float, ready: ReadyJobs) -> bool:
        """Say whether it is time to look: a job has waited long."""
        return (
            now >= self._next_s
            and ready.count > 0
            and now - self._jobs[ready.oldest()].submit_s >= self._after_s
        )

    def look(
        self, now: float, ready: ReadyJobs, machines: Sequence[SimulatedMachine]
    ) -> list[SimulatedMachine]:
        """Keep machines, and return all that are kept."""
        self._next_s = now + LOOK_S
        able = [one for one in machines if one.state == "active" and one.pending is None]
        rooms = [self._room(now, number, one) for number, one in enumerate(able)]
        waiting = [self._waiting(now, job, ready.asks(job)) for job in ready.heads(FIRST_JOBS)]
        kept = keep_workers(waiting, rooms, after_s=self._after_s)
        for number, _, job, fill_s in [*kept, *fill_gaps(rooms)]:
            machine = able[number]
            if machine.kept is None:
                machine.kept = job
                ready.remove(job, self._jobs[job])
            if fill_s is not None:
                until_s, before_s = now + fill_s, machine.fill_until_s
                machine.fill_until_s = until_s if before_s is None else min(until_s, before_s)
        return [one for one in able if one.kept is not None]

    def claim(self, now: float, machine: SimulatedMachine, ready: ReadyJobs) -> list[int]:
        """Take the job that a machine is kept for if there is room; else what is over in time."""
        free_m = machine.flavour.cpu_m - machine.used_m
        free_mib = machine.flavour.memory_mib - machine.used_mib
        taken: list[int] = []
        if (kept := machine.kept) is not None:
            large = self._jobs[kept]
            if large.cpu_m <= free_m and large.memory_mib <= free_mib:
                machine.kept = machine.fill_until_s = None
                return [kept]
        for job in ready.heads(FIRST_JOBS):
            one = self._jobs[job]
            most_s = limit_range(one.limit_s)[1]
            is_short = most_s is not None and now + most_s <= (machine.fill_until_s or 0.0)
            is_short = is_short and ready.asks(job) in machine.serves
            if is_short and one.cpu_m <= free_m and one.memory_mib <= free_mib:
                ready.remove(job, one)
                taken.append(job)
                free_m, free_mib = free_m - one.cpu_m, free_mib - one.memory_mib
        return taken

    def _waiting(self, now: float, job: int, asks: int) -> LongWaiting:
        one = self._jobs[job]
        return LongWaiting(0, job, one.user, one.cpu_m, one.memory_mib, asks, now - one.submit_s)

    def _room(self, now: float, number: int, machine: SimulatedMachine) -> Room:
        running = []
        for job, start_s in machine.started.items():
            one = self._jobs[job]
            least_s, most_s = limit_range(one.limit_s)
            running.append(
                Running(
                    one.cpu_m,
                    one.memory_mib,
                    at_least_s=max(start_s + least_s - now, 0.0),
                    at_most_s=None if most_s is None else max(start_s + most_s - now, 0.0),
                )
            )
        flavour, serves, kept = machine.flavour, machine.serves, None
        if machine.kept is not None:
            one = self._jobs[machine.kept]
            kept = KeptJob(0, machine.kept, one.user, one.cpu_m, one.memory_mib)
        return Room(number, flavour.cpu_m, flavour.memory_mib, serves, tuple(running), kept)
