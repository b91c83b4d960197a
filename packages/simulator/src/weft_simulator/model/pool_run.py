"""A pool under a recorded workload: claims of its machines, and rounds of its autoscaler.

Events are handled in the order of their time; of one time, ends come first, then submissions,
machines that are ready, claims, a round. Rounds that cannot decide anything are left out.
"""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final

import msgspec

from weft.core.errors import Invalid
from weft.core.pools import Decision, Flavour, Pool, decide
from weft.core.scheduling.lease import Load, Pace, plan_claim
from weft.core.swf import TraceJob
from weft_simulator.model.gates import Gate, QueueLimits
from weft_simulator.model.kept import KeptMachines
from weft_simulator.model.machine import Losses, SimulatedMachine
from weft_simulator.model.outcome import MachineTime, TraceOutcome
from weft_simulator.model.preempted import Preemptions, Priorities
from weft_simulator.model.ready_jobs import ReadyJobs, Shape

GAP_S: Final = 2.0
"""Between two rounds at least, as in the driver."""
NOTHING_AHEAD: Final = Pace()
"""Jobs of recorded workloads take seconds and more, so nothing is claimed ahead of room."""
BOOT_SPREAD: Final = 0.5
"""A machine takes up to this share less or more time than others until it is ready."""
_END, _READY, _LOST, _AGAIN = 0, 1, 2, 3
VAIN_MAX: Final = 10_000
"""After this number of losses of machines without a start in between, nothing will start."""


class JobNeverStarts(Invalid, code="CLI.JOB_NEVER_STARTS"):
    """A pool that can never run a job of a trace."""

    advice = "Give the pool a flavour that holds the job, and room for it in its limits."


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a trace and a pool do not say."""

    seed: int = 0
    boot_s: float = 60.0
    """Mean time from the decision to make a machine until it takes jobs."""
    autoscale_s: float = 15.0
    jobs_max: int = 5000
    """How many jobs of the queue the autoscaler looks at."""
    reserve_after_s: float = 300.0
    """How long a large job waits until a machine is kept for it."""
    losses_per_hour: float = 0.0
    """How often a machine that may be taken back is, on average."""
    losses_max: int = 5
    spot_losses_max: int = 2
    limits: QueueLimits = field(default_factory=QueueLimits)
    priorities: Mapping[int, int] = field(default_factory=dict)
    """Of the queues of some users: jobs of others are stopped for theirs."""
    preempt_after_s: float = 10.0
    preempted_wait_s: float = 60.0


def check_sizes(pool: Pool, jobs: Sequence[TraceJob], *, trace: str) -> None:
    """Raise `JobNeverStarts` for a job that no machine of the pool can hold."""
    if not pool.max_workers:
        raise JobNeverStarts(
            f"pool {pool.name!r} makes no machines",
            detail="Its max_workers is 0.",
            hint="Set max_workers, provider and a flavour.",
        )
    quota_m = math.inf if pool.quota_cpu_m is None else pool.quota_cpu_m * pool.quota_share
    sizes = [(one.cpu_m, one.memory_mib) for one in pool.flavours if one.cpu_m <= quota_m]
    largest = max(jobs, key=lambda job: (job.cpu_m, job.memory_mib))
    for job in (largest, max(jobs, key=lambda job: job.memory_mib)):
        if not any(job.cpu_m <= cpu_m and job.memory_mib <= mib for cpu_m, mib in sizes):
            most = max(sizes, default=(0, 0))
            raise JobNeverStarts(
                f"no machine of pool {pool.name!r} can hold job {job.number} of {trace}",
                detail=f"It asks for {job.cpu_m / 1000:g} cores and {job.memory_mib} MiB; the "
                f"largest flavour within the quota has {most[0] / 1000:g} and {most[1]} MiB.",
            )


def run_pool(pool: Pool, jobs: Sequence[TraceJob], options: Options) -> TraceOutcome:
    """Run the jobs, in the order of their submission, on the pool.

    The machines that the pool keeps anyway are there when the first job comes. Raise
    `JobNeverStarts` if jobs wait and nothing can change any more.
    """
    return _PoolRun(pool, jobs, options).run()


class _PoolRun:
    def __init__(self, pool: Pool, jobs: Sequence[TraceJob], options: Options) -> None:
        self._pool = pool
        self._jobs = jobs
        self._options = options
        self._random = Random(options.seed)  # noqa: S311 (a machine's time to boot is no secret)
        self._flavours = {flavour.name: flavour for flavour in pool.flavours}
        self._now = jobs[0].submit_s
        self._ready = ReadyJobs()
        self._gate = Gate(options.limits)
        self._losses = Losses(
            pool,
            seed=options.seed,
            per_hour=options.losses_per_hour,
            losses_max=options.losses_max,
            spot_losses_max=options.spot_losses_max,
        )
        priorities = Priorities(
            by_user=options.priorities,
            after_s=options.preempt_after_s,
            losses_max=options.losses_max,
        )
        self._preemptions = Preemptions(jobs, priorities, self._losses)
        self._errors: dict[int, float] = {}
        self._n_vain = 0
        self._kept = KeptMachines(jobs, options.reserve_after_s)
        self._machines: dict[str, SimulatedMachine] = {}
        self._gone: list[MachineTime] = []
        self._events: list[tuple[float, int, int, str]] = []
        """Time, kind, job, machine."""
        self._next_job = 0
        self._n_ended = 0
        self._n_made, self._made_s = 0, -math.inf
        self._starts = [math.nan] * len(jobs)
        self._placed = [""] * len(jobs)
        self._last_s = self._now - options.autoscale_s
        """The last round."""
        self._is_rung = self._has_decided = False
        self._n_decisions = 0

    def run(self) -> TraceOutcome:
        """Handle events until all jobs have ended."""
        self._begin()
        while self._n_ended < len(self._jobs):
            round_at = self._round_at()
            look_at = self._preemptions.due_at(self._now)
            self._now = min(self._next_event_at(), round_at, look_at)
            if self._now == math.inf or self._n_vain > VAIN_MAX:
                self._refuse()
            self._step()
            if round_at <= self._now:
                self._round()
        for machine in list(self._machines.values()):
            self._remove(machine)
        return TraceOutcome(
            name="weft",
            starts=self._starts,
            placed=self._placed,
            machines=self._gone,
            n_decisions=self._n_decisions,
            lost=self._losses.with_machine,
            errors=self._errors,
            stops=self._preemptions.stops,
        )

    def _begin(self) -> None:
        """Make the machines that stay although nothing runs."""
        while len(self._machines) < self._pool.min_workers and self._decide():
            for machine in self._machines.values():
                machine.state = "active"
        self._events.clear()
        for machine in self._machines.values():
            self._plan_loss(machine)
        self._has_decided = False

    def _next_event_at(self) -> float:
        at = self._events[0][0] if self._events else math.inf
        if self._next_job < len(self._jobs):
            at = min(at, self._jobs[self._next_job].submit_s)
        return at

    def _step(self) -> None:
        """Let happen what happens now, then let machines claim."""
        touched: dict[str, SimulatedMachine] = {}
        while self._events and self._events[0][:2] <= (self._now, _END):
            at, _, index, name = heapq.heappop(self._events)
            machine = self._machines.get(name)
            if machine is not None and self._is_end(at, index, machine):
                self._end(index, machine)
                touched[name] = machine
        while (
            self._next_job < len(self._jobs) and self._jobs[self._next_job].submit_s <= self._now
        ):
            self._gate.add(self._next_job, self._jobs[self._next_job])
            self._next_job += 1
        while self._events and self._events[0][0] <= self._now:
            _, kind, index, name = heapq.heappop(self._events)
            if kind == _AGAIN:
                self._gate.add(index, self._jobs[index])
                continue
            came = self._machines.get(name)
            if came is not None and kind == _LOST:
                self._lose(came)
                touched.pop(name, None)
                self._is_rung = True
            elif came is not None:  # else it was too late, and is gone
                self._plan_loss(came)
                came.state = "active"
                came.state_since_s = came.idle_since_s = self._now
                touched[came.name] = came
        admitted = self._gate.admit(self._ready.load_of)
        for index in admitted:
            self._ready.add(index, self._jobs[index])
        is_new = bool(admitted)
        if touched or is_new:
            self._is_rung = True
            self._claim(list((self._machines if is_new else touched).values()))
        if self._kept.is_due(self._now, self._ready):
            self._n_decisions += 1
            self._claim(self._kept.look(self._now, self._ready, list(self._machines.values())))
        if self._options.priorities:
            self._preempt()

    def _claim(self, machines: Sequence[SimulatedMachine]) -> None:
        for machine in machines:
            if not self._ready.count and machine.kept is None:
                continue
            if machine.state == "active" and machine.pending is None:
                self._claim_for(machine)

    def _claim_for(self, machine: SimulatedMachine, *, may_leave: bool = True) -> None:
        """Let a machine claim; a job that has no room there is left to one that has."""
        flavour = machine.flavour
        if machine.kept is not None:
            for index in self._kept.claim(self._now, machine, self._ready):
                self._hold(index, machine)
            if machine.kept is not None:
                return
        other: SimulatedMachine | None = None

        def is_left(shape: Shape) -> bool:
            nonlocal other
            other = self._with_room(shape) if may_leave else None
            return other is not None

        while self._ready.count:
            load = Load(
                cpu_m=flavour.cpu_m,
                memory_mib=flavour.memory_mib,
                cpu_m_held=machine.used_m,
                memory_mib_held=machine.used_mib,
            )
            budget = plan_claim(load, NOTHING_AHEAD)
            if budget is None:
                return
            self._n_decisions += 1
            taken = self._ready.claim(
                budget, flavour.cpu_m, flavour.memory_mib, machine.serves, is_left
            )
            if other is not None:
                self._claim_for(other, may_leave=False)
                other = None
            elif not taken:
                return
            for index in taken:
                self._hold(index, machine)

    def _with_room(self, shape: Shape) -> SimulatedMachine | None:
        for one in self._machines.values():
            is_free = one.state == "active" and one.pending is None and one.kept is None
            room_m = one.flavour.cpu_m - one.used_m
            if (
                is_free
                and shape[2] in one.serves
                and shape[0] <= room_m
                and shape[1] <= one.flavour.memory_mib - one.used_mib
            ):
                return one
        return None

    def _hold(self, index: int, machine: SimulatedMachine) -> None:
        job = self._jobs[index]
        machine.used_m += job.cpu_m
        machine.used_mib += job.memory_mib
        machine.n_running += 1
        if machine.has_room():
            self._start(index, machine)
        else:
            machine.pending = index

    def _start(self, index: int, machine: SimulatedMachine) -> None:
        self._n_vain = 0
        self._preemptions.note_start(index)
        self._starts[index] = self._now
        self._placed[index] = machine.name
        machine.started[index] = self._now
        end_s = self._now + self._jobs[index].run_s
        heapq.heappush(self._events, (end_s, _END, index, machine.name))

    def _is_end(self, at: float, index: int, machine: SimulatedMachine) -> bool:
        """Say whether a job ends now; else it was stopped, and may have begun again."""
        began_s = machine.started.get(index)
        return began_s is not None and began_s + self._jobs[index].run_s == at

    def _end(self, index: int, machine: SimulatedMachine) -> None:
        self._n_ended += 1
        self._free(index, machine)

    def _preempt(self) -> None:
        """Stop jobs for others; they wait until these have had time to start."""
        touched = {}
        for stop in self._preemptions.look(self._now, self._ready, [*self._machines.values()]):
            touched[stop.machine] = machine = self._machines[stop.machine]
            fate = self._losses.preempt(stop.job, self._jobs[stop.job], machine.flavour)
            if fate == "stays":
                self._ready.stay(stop.job)
            self._free(stop.job, machine)
            again_s = self._now + self._options.preempted_wait_s
            heapq.heappush(self._events, (again_s, _AGAIN, stop.job, ""))
        if touched:
            self._n_decisions += 1
            self._is_rung = True
            self._claim([*touched.values()])

    def _free(self, index: int, machine: SimulatedMachine) -> None:
        """Free what a job has; what was claimed already starts if it has room now."""
        job = self._jobs[index]
        machine.used_m -= job.cpu_m
        machine.used_mib -= job.memory_mib
        machine.n_running -= 1
        del machine.started[index]
        machine.idle_since_s = self._now
        self._ready.end(job)
        self._gate.end(job)
        if machine.pending is not None and machine.has_room():
            index, machine.pending = machine.pending, None
            self._start(index, machine)

    def _plan_loss(self, machine: SimulatedMachine) -> None:
        lifetime_s = self._losses.lifetime_s(machine.flavour)
        if lifetime_s is not None:
            heapq.heappush(self._events, (self._now + lifetime_s, _LOST, 0, machine.name))

    def _lose(self, machine: SimulatedMachine) -> None:
        """Take a machine away with what runs there; leases go back and are no losses."""
        self._n_vain += 1
        self._remove(machine)
        for index in machine.started:
            fate = self._losses.lose(index, self._jobs[index])
            if fate == "stays":
                self._ready.stay(index)
            if fate == "error":
                self._errors[index] = self._now
                self._n_ended += 1
            self._give_back(index, is_over=fate == "error")
        for lease in (machine.pending, machine.kept):
            if lease is not None:
                self._give_back(lease, is_over=False)

    def _give_back(self, index: int, *, is_over: bool) -> None:
        """Free what a job had on a lost machine, and let it wait again unless it is over."""
        job = self._jobs[index]
        self._ready.end(job)
        self._gate.end(job)
        if not is_over:
            self._gate.add(index, job)

    def _round_at(self) -> float:
        """Return when the next round is that could decide something."""
        pool, every_s = self._pool, self._options.autoscale_s
        found = math.inf
        machines = self._machines.values()
        if self._has_decided:
            found = self._last_s + every_s
        if self._ready.count and self._made_s + every_s > self._last_s:
            found = min(found, max(self._now, self._made_s + every_s))
        may_grow = self._ready.count and len(machines) < pool.max_workers
        if self._is_rung and (
            may_grow
            or len(machines) < pool.min_workers
            or any(one.state == "cordoned" for one in machines)
        ):
            found = min(found, max(self._now, self._last_s + GAP_S))
        due_s = [one.begin_s + pool.stale_s for one in machines if one.state == "creating"]
        if len(machines) > pool.min_workers:
            due_s += [
                one.idle_since_s + pool.idle_s
                for one in machines
                if one.state == "active" and not one.n_running
            ]
        due_s = [one for one in due_s if one > self._last_s]
        if due_s:
            rounds = max(math.ceil((min(due_s) - self._last_s) / every_s), 1)
            found = min(found, self._last_s + rounds * every_s)
        return found

    def _round(self) -> None:
        self._last_s = self._now
        self._is_rung = False
        self._has_decided = self._decide()
        if self._has_decided and self._ready.count:
            self._claim(list(self._machines.values()))

    def _decide(self) -> bool:
        """Decide and do it; return whether there was anything to do."""
        demand = self._ready.demand(self._options.jobs_max) if self._ready.count else []
        seen = [machine.seen(self._now) for machine in self._machines.values()]
        self._n_decisions += 1
        pool = self._pool
        if self._now < self._made_s + self._options.autoscale_s:
            pool = msgspec.structs.replace(pool, creates_per_round=0)
        decisions = decide(pool, demand, seen)
        for decision in decisions:
            self._do(decision)
        return bool(decisions)

    def _do(self, decision: Decision) -> None:
        if decision.machine is None:
            self._make(self._flavours[decision.flavour], decision.region)
            return
        machine = self._machines[decision.machine]
        if decision.kind == "delete":
            self._remove(machine)
            return
        machine.state = "active" if decision.kind == "uncordon" else "cordoned"
        machine.state_since_s = self._now

    def _make(self, flavour: Flavour, region: str) -> None:
        self._n_made, self._made_s = self._n_made + 1, self._now
        name = f"m{self._n_made}"
        self._machines[name] = SimulatedMachine(self._pool.name, name, flavour, region, self._now)
        spread = self._random.uniform(1 - BOOT_SPREAD, 1 + BOOT_SPREAD)
        at = self._now + self._options.boot_s * spread
        heapq.heappush(self._events, (at, _READY, 0, name))

    def _remove(self, machine: SimulatedMachine) -> None:
        del self._machines[machine.name]
        self._gone.append(
            MachineTime(
                name=machine.name,
                cpu_m=machine.flavour.cpu_m,
                begin_s=machine.begin_s,
                end_s=self._now,
                price_per_hour=float(machine.flavour.price_per_hour),
            )
        )

    def _refuse(self) -> None:
        waiting = self._gate.oldest() if not self._ready.count else self._ready.oldest()
        job = self._jobs[waiting if waiting is not None else -1]
        raise JobNeverStarts(
            f"job {job.number} of the trace never starts in pool {self._pool.name!r}",
            detail=f"It asks for {job.cpu_m / 1000:g} cores. The machines that the pool keeps or "
            "may have at most are too small, or the queue lets no job run.",
        )
