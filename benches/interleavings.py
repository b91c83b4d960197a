"""Agents, drivers, a provider and users over `simulated_tables`, in random interleavings.

Each step is something that one of them does. What a driver decides it does at a later step, when
the tables may have changed, and perhaps when it no longer leads. The decisions are the product's;
what must be true of them is checked where they are used.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from benches.simulated_draws import Draws
from benches.simulated_preemption import PREEMPT_AFTER_S
from benches.simulated_roles import Agent, Attempt, Driver
from benches.simulated_tables import LOSSES_MAX, Job, Tables, User, Worker
from benches.simulated_waits import check_that_why_is_said
from weft.core.billing.spending import Stage, is_near, room_per_hour, stage_of
from weft.core.pools import Decision, Demand, Flavour, Machine, Pool, decide_all
from weft.core.scheduling.lease import LEASE_AGE_MAX_S, Budget, Load, plan_claim
from weft.core.scheduling.preemption import Host, Preemption, RunningJob, WaitingJob, plan_round

POOL: Final = Pool(
    name="p",
    provider="any",
    min_workers=1,
    max_workers=4,
    idle_s=10,
    stale_s=40,
    window_s=30,
    creates_per_round=2,
    quota_cpu_m=44_000,
    flavours=(
        Flavour(name="small", cpu_m=4000, memory_mib=1000),
        Flavour(name="large", cpu_m=12_000, memory_mib=1000),
    ),
)
SIZES: Final = {one.name: one for one in POOL.flavours}
TICK_S: Final = 5.0
LASTS_S: Final = 2 * TICK_S
"""What is left of a limit that is near lasts so long at least, whatever it lets start."""
WAIT_MAX_S: Final = 600.0
"""Without faults a job has ended after this time, whatever others do."""
READY_MAX: Final = 12


class Simulation:
    """A world of one seed."""

    def __init__(self, seed: int) -> None:
        self.draws = Draws(seed)
        self.tables = Tables(self.draws)
        self.agents: dict[str, Agent] = {}
        self.driver, self.old = Driver(1, 0.0, 0.0), list[Driver]()
        self.limited = self.tables.users[3]
        self.n_steps, self.counts = 0, Counter[str]()
        """What drivers did, by its name: a world in which nothing happens shows nothing."""
        self.has_faults = True
        self._usual = [
            *[self.work] * 30,
            *[self.act] * 20,
            self.scale,
            self.preempt,
            *[self.spend] * 3,
            self.tables.release,
            self.tables.lose_silent,
            *[self.provide] * 2,
            self.test,
            self.ask,
            *[self.tables.pass_gates] * 2,
        ]
        self._faulty = [
            *self._usual * 8,
            *[self.submit] * 4,
            *[self.fail] * 2,
            *[self.set_limit] * 3,
        ]
        self._busy = [*self._faulty, *[self.submit] * 30]

    def run(self, n_steps: int) -> None:
        """Do steps with faults, then show that everything ends without them, again and again."""
        last = self.n_steps + n_steps
        while self.n_steps < last:
            actions = self.draws.steps.choice((self._faulty, self._busy))
            for _ in range(3000):
                self.step(actions)
            self.settle()

    def step(self, actions: list[Callable[[], None]]) -> None:
        self.n_steps += 1
        self.tables.now += self.draws.steps.random() / 5
        self.draws.steps.choice(actions)()

    # ------------------------------------------------------------------ users and faults

    def submit(self) -> None:
        draw, tables = self.draws.users, self.tables
        user = draw.choice(tables.users)
        for _ in range(draw.choice((1, 1, 2, 6)) if len(user.ready) < READY_MAX else 0):
            size = draw.choice((1000, 1000, 1000, 2000, 4000, 8000))
            priority = draw.choice((None, None, None, 1, 2))
            gate = draw.choice((None, None, None, *tables.gates))
            runs_s = draw.choice((0.2, 2, 5, 30) if gate is None else (0.2, 2, 5))
            job = tables.submit(user, size, runs_s, priority)
            job.gate, job.places = gate, draw.choice((1, 2)) if gate is tables.gates[1] else 1

    def ask(self) -> None:
        """Ask why a job waits."""
        waiting = [job for job in self.tables.jobs.values() if job.owner is None]
        if waiting:
            check_that_why_is_said(self.draws.questions.choice(waiting), self.tables, POOL)
            self.counts["asked"] += 1

    def set_limit(self) -> None:
        self._set_limit(self.draws.limits.choice((3, 10, 30, 60, 200)))

    def _set_limit(self, left: float) -> None:
        user = self.limited
        user.accrue(self.tables.now)
        user.amount = user.used + left
        user.version, user.seen_s, user.was_near, user.most_m = (
            user.version + 1,
            0.0,
            False,
            math.inf,
        )
        if not user.near:
            user.fresh_until_s = self.tables.now + 3 * TICK_S

    def fail(self) -> None:
        """Break something: of the driver, of the clock, or of an agent."""
        draw, tables = self.draws.faults, self.tables
        kind = draw.choice(
            ("driver", "clock", "lost", "all", "again", "away", "repeated", "unheard")
        )
        agent = draw.choice([*self.agents.values(), None])
        if kind == "driver":
            self.old = [*self.old[-2:], self.driver]
            tables.epoch += 1
            lag = draw.choice((0, 0, 0.95))
            self.driver = Driver(tables.epoch, draw.uniform(-1e6, 1e6), lag)
        elif kind == "clock":
            tables.now += draw.choice((1, 10, 60))
        elif kind == "all":
            self.agents.clear()
        elif agent is None:
            return
        elif kind == "lost":
            del self.agents[agent.worker.name]
        elif kind == "again":
            self._begin(agent)
        elif kind == "away":
            agent.away_until_s = tables.now + draw.choice((2, 10, 40, 90))
        elif kind == "repeated":
            agent.outbox += agent.outbox[-2:]
        else:
            tables.claim(agent.worker, Budget(4000, 1000, 3))

    def _begin(self, agent: Agent) -> None:
        self.tables.lose(agent.worker)
        agent.held.clear()
        agent.outbox.clear()
        if agent.worker.state != "deleting":
            self.tables.register(agent.worker)

    # ------------------------------------------------------------------ agents

    def work(self) -> None:
        """Let an agent do some of what it does again and again."""
        if not self.agents:
            return
        agent, now = self.draws.agents.choice([*self.agents.values()]), self.tables.now
        self._turn(agent, now)
        for do in (self._report, self._claim, self._beat):
            if self.draws.agents.random() < 0.5 and now >= agent.away_until_s:
                do(agent, now)

    def _turn(self, agent: Agent, now: float) -> None:
        """Let what is over end, and start the rest in order; what waits behind the first goes."""
        free_m, waits = agent.worker.cpu_m, False
        for one in list(agent.held.values()):
            if one.end_s is not None and one.end_s <= now:
                agent.pace.add(duration_s=one.job.runs_s, cpu_m=one.job.cpu_m, memory_mib=1)
                agent.n_ended += 1
                agent.drop(one, self._outcome())
            elif one.end_s is not None:
                free_m -= one.job.cpu_m
        for one in [one for one in agent.held.values() if one.end_s is None]:
            if one.job.cpu_m <= free_m and not waits:
                one.end_s = now + one.job.runs_s
                free_m -= one.job.cpu_m
                agent.outbox.append((one.key, "started"))
            elif waits and now - one.claimed_s > LEASE_AGE_MAX_S:
                agent.drop(one, "returned")
            else:
                waits = True

    def _outcome(self) -> str:
        """Return how a job ends: some fail, some ask to wait for a condition, by its number."""
        drawn = self.draws.ends.random()
        if drawn < 0.05:
            return "failed"
        return str(self.draws.ends.randrange(3)) if drawn < 0.08 and self.has_faults else "success"

    def _claim(self, agent: Agent, now: float) -> None:
        load = Load(
            cpu_m=agent.worker.cpu_m,
            memory_mib=1000,
            memory_mib_held=len(agent.held),
            cpu_m_held=sum(one.job.cpu_m for one in agent.held.values()),
            ended_lately=agent.n_ended,
        )
        agent.n_ended = 0
        if (budget := plan_claim(load, agent.pace)) is not None:
            for job in self.tables.claim(agent.worker, budget):
                agent.held[job.number] = Attempt(job, now)

    def _report(self, agent: Agent, _: float) -> None:
        for _ in range(min(len(agent.outbox), self.draws.agents.choice((1, 4, 100)))):
            (number, attempt), outcome = agent.outbox.pop(0)
            self.tables.end(agent.worker, number, attempt, outcome)
        worker = agent.worker
        if worker.state == "deleting" and not (agent.held or agent.outbox or worker.jobs):
            worker.lives = False

    def _beat(self, agent: Agent, _: float) -> None:
        if not agent.worker.lives:
            self._begin(agent)
            return
        names = {one.key for one in agent.held.values()} | {key for key, _ in agent.outbox}
        for job in self.tables.beat(agent.worker, names):
            if job.number in agent.held:
                is_stopped = job.stopped == job.attempt
                agent.drop(agent.held[job.number], "preempted" if is_stopped else "returned")

    # ------------------------------------------------------------------ machines

    def provide(self) -> None:
        """Do what the provider was asked for."""
        for row in list(self.tables.workers.values()):
            if row.state == "deleting" and not row.lives:
                del self.tables.workers[row.name]
                agent = self.agents.pop(row.name, None)
                held = agent.held.values() if agent else ()
                live = [one.key for one in held if self.tables.is_its(row, *one.key)]
                assert not live, f"machine {row.name} is deleted, and runs {live}"
            elif row.state == "creating" and row.comes and self.draws.machines.random() < 0.3:
                row.state, row.since_s = "active", self.tables.now
                self.tables.register(row)
                self.agents[row.name] = Agent(row)

    def scale(self) -> None:
        driver, now, machines = self.driver, self.tables.now, dict[str, Machine]()
        if "scale" in driver.todo:
            return
        for row in self.tables.workers.values():
            key, since_s = driver.idle.get(row.name, (-1, now))
            since_s = now if row.jobs or key != row.n_claims else since_s
            driver.idle[row.name] = row.n_claims, since_s
            machines[row.name] = Machine(
                name=row.name,
                state=row.state,
                flavour=row.flavour.name,
                cpu_m=row.cpu_m,
                memory_mib=1000,
                n_running=len(row.jobs),
                used_cpu_m=row.used_m,
                idle_s=now - since_s,
                state_s=now - row.since_s,
                has_worker=row.lives,
            )
        demand = [
            Demand(cpu_m=job.cpu_m, memory_mib=1, runs_s=job.runs_s)
            for user in sorted(self.tables.users, key=lambda user: (user.load, user.number))
            for job in user.claimable()
        ]
        decisions = decide_all(POOL, demand, [], [*machines.values()])
        largest_m = max((one.cpu_m for one in demand), default=0)
        self._check_scaling(decisions, machines, largest_m)
        driver.todo["scale"] = lambda: self._scale(decisions)

    def _check_scaling(
        self, decisions: Sequence[Decision], machines: dict[str, Machine], largest_m: int
    ) -> None:
        """Only for a job that no machine could hold others go that are busy, and none ends so."""
        new = [SIZES[one.flavour].cpu_m for one in decisions if one.kind == "create"]
        there = [one.cpu_m for one in machines.values()]
        assert not new or len(new) + len(there) <= POOL.max_workers
        assert not new or sum(new) + sum(there) <= (POOL.quota_cpu_m or 0)
        names = [one.machine for one in decisions if one.machine is not None]
        assert len(names) == len(set(names))
        for one in decisions:
            machine = machines.get(one.machine or "")
            makes_room = one.kind == "cordon" and all(
                largest_m > there.cpu_m
                for there in machines.values()
                if there.state == "creating" or (there.has_worker and there.state != "deleting")
            )
            if machine is not None and one.kind != "uncordon" and not makes_room:
                assert not machine.n_running, f"{one.kind} of {one.machine}, where jobs run"
                assert one.kind == "delete" or machine.idle_s >= POOL.idle_s

    def _scale(self, decisions: Sequence[Decision]) -> None:
        """Some of the machines that are made never come."""
        tables = self.tables
        for one in decisions:
            self.counts[one.kind] += 1
            if one.machine is not None:
                tables.move(one.machine, one.kind)
                continue
            row = Worker(f"m{self.counts[one.kind]}", SIZES[one.flavour], tables.now)
            tables.workers[row.name] = row
            row.comes = not self.has_faults or self.draws.machines.random() < 0.9

    # ------------------------------------------------------------------ drivers

    def act(self) -> None:
        """Do what a driver decided earlier; one whose term is over changes nothing."""
        driver = self.draws.drivers.choice([self.driver] * 4 + self.old)
        if driver.todo and self.draws.drivers.random() >= driver.lag:
            do = driver.todo.pop(self.draws.drivers.choice([*driver.todo]))
            if driver.epoch == self.tables.epoch:
                do()

    def preempt(self) -> None:
        driver, users = self.driver, self.tables.users
        if "preempt" in driver.todo:
            return
        waiting = [
            self._waiting(job) for user in users for job in user.claimable() if _may_cause(job)
        ]
        hosts = [self._host(worker) for worker in self.tables.workers.values() if worker.takes]
        found = plan_round(
            waiting,
            hosts,
            driver.since,
            now=self.tables.now + driver.clock_s,
            after_s=PREEMPT_AFTER_S,
            losses_max=LOSSES_MAX,
        )
        driver.since = dict(found.since)
        driver.looks.check(found.plans, waiting, hosts, self.tables.now)
        driver.todo["preempt"] = lambda: self._preempt(found.plans)

    def _waiting(self, job: Job, worker: str = "") -> WaitingJob:
        return WaitingJob(
            batch_id=1,
            job_id=job.number,
            attempt=job.last_run,
            worker=worker,
            tenant_id=1,
            priority=job.priority or 0,
            cpu_m=job.cpu_m,
            memory_mib=1,
        )

    def _host(self, worker: Worker) -> Host:
        jobs = worker.jobs.values()
        leases = [job for job in jobs if job.start_s is None and _may_cause(job)]
        running = tuple(
            RunningJob(
                batch_id=1,
                job_id=job.number,
                attempt=job.attempt,
                tenant_id=1,
                priority=job.priority,
                cpu_m=job.cpu_m,
                memory_mib=1,
                losses=job.losses,
                runs_s=self.tables.now - (job.start_s or self.tables.now),
                may_be_stopped=job.start_s is not None and job.stopped != job.attempt,
            )
            for job in jobs
            if job not in leases
        )
        waiting = tuple(self._waiting(job, worker.name) for job in leases)
        return Host(
            name=worker.name, cpu_m=worker.cpu_m, memory_mib=1000, running=running, leases=waiting
        )

    def _preempt(self, plans: Sequence[Preemption]) -> None:
        for plan in plans:
            cause = self.tables.jobs.get(plan.waiting.job_id)
            if cause is None or cause.start_s is not None or not _may_cause(cause):
                continue
            for one in plan.stopped:
                job = self.tables.jobs.get(one.job_id)
                if job is not None and job.owner is not None and job.attempt == one.attempt:
                    job.stopped, cause.caused = job.attempt, cause.last_run
                    self.counts["stop"] += 1

    def test(self) -> None:
        """Test what jobs wait for; what the test says is recorded later."""
        driver, tables = self.driver, self.tables
        due = [one.number for one in tables.conditions.values() if one.next_s <= tables.now]
        if "test" in driver.todo or not due:
            return
        passed = not self.has_faults or self.draws.conditions.random() < 0.3

        def record() -> None:
            tables.note_test(due[0], passed=passed)
            self.counts["passed"] += passed

        driver.todo["test"] = record

    def spend(self) -> None:
        user, tables = self.limited, self.tables
        if "spend" in self.driver.todo or tables.now < user.seen_s + TICK_S - 0.1:
            return
        user.seen_s = seen_s = tables.now
        grown_m, taken_m = user.grown_m, user.taken_m
        version, is_new = user.version, user.version != user.judged
        seen = user.spending(tables.now, tables.could_m())
        stage = stage_of(seen, is_new=is_new, lookahead_s=TICK_S)
        near = stage is not Stage.REACHED and is_near(seen, is_new=is_new, lookahead_s=TICK_S)
        admits = near and seen.near
        room = room_per_hour(seen, lookahead_s=TICK_S) if admits else None
        fits_m = (user.amount - user.used) * 3600 / LASTS_S

        def judge() -> None:
            if user.version != version:
                return
            self._check_limit(user, stage)
            if near and (not user.near or is_new):
                user.seen_s = 0.0  # as the loop does, it looks again at once
            user.is_slow = tables.now > user.due_s + TICK_S
            if seen.could_use_per_hour:
                user.was_near = near
            user.stage, user.near, user.judged = stage, near, version
            user.most_m = fits_m if admits else math.inf
            self.counts[stage] += 1
            user.due_s, user.grown_m = seen_s + TICK_S, user.grown_m - grown_m
            user.unseen_m = user.taken_m - taken_m
            user.weight = 0.5 if stage is Stage.SLOWED else 1.0
            if room is not None:
                count, is_short = user.admit(float(room), tables.now)
                if is_short and not (count or seen.used_per_hour or seen.admitted_per_hour):
                    least_m = min(job.cpu_m for job in user.ready.values())
                    assert least_m > fits_m - 1, f"{least_m} fit below a limit that is at its end"
                    user.stage, user.near = Stage.REACHED, False

        self.driver.todo["spend"] = judge

    def _check_limit(self, user: User, stage: Stage) -> None:
        """Until the next look is due no limit is passed, but by what workers use that came since
        the last one, if it was not near before, and by what started since then until that look
        was acted on; and what is at its end stays there.
        """
        now = self.tables.now
        user.accrue(now)
        if user.stage is Stage.REACHED:
            assert stage is Stage.REACHED or user.version != user.judged
            return
        begin_s, end_s = max(user.due_s, user.fresh_until_s), user.due_s + TICK_S
        if begin_s <= now <= end_s and not user.is_slow and user.version == user.judged:
            over = user.used_due - user.amount
            assert over <= (user.grown_m + user.unseen_m) * TICK_S / 3600, (
                f"{over:g} beyond the limit when a look was due"
            )

    # ------------------------------------------------------------------ without faults

    def settle(self) -> None:
        """Without faults users share alike, each job ends, and the pool shrinks to its minimum."""
        tables, begun_s = self.tables, self.tables.now
        self._set_limit(1e12)
        self.has_faults, self.driver.lag = False, 0.0
        for agent in self.agents.values():
            agent.away_until_s = 0.0
        self._end_all(begun_s)
        self._share()
        for _ in range(100):
            self._go(5)
            if not tables.jobs and len(tables.workers) <= POOL.min_workers:
                break
        assert not tables.jobs, f"jobs {[*tables.jobs]} do not end"
        assert not any(gate.holders for gate in tables.gates), "a gate keeps a place for nobody"
        assert len(tables.workers) <= POOL.min_workers, "the pool does not shrink"
        for _ in range(10):
            self._press(6)
        tables.submit(tables.users[0], 8000, 5)  # perhaps all machines are small, and busy
        self._end_all(tables.now)
        self.has_faults = True

    def _end_all(self, begun_s: float) -> None:
        old = [*self.tables.jobs]
        while left := [number for number in old if number in self.tables.jobs]:
            assert self.tables.now < begun_s + WAIT_MAX_S, f"jobs {left} do not end"
            self._press(10)

    def _go(self, seconds: float) -> None:
        end_s = self.tables.now + seconds
        while self.tables.now < end_s:
            self.step(self._usual)

    def _press(self, seconds: float) -> None:
        """Let every user have more short jobs than there is room for."""
        for user in self.tables.users:
            while len(user.ready) < READY_MAX:
                self.tables.submit(user, 1000, self.draws.users.choice((1, 2, 3)))
        self._go(seconds)

    def _share(self) -> None:
        for _ in range(20):
            self._press(5)
        used, n_created = dict.fromkeys(self.tables.users, 0.0), self.counts["create"]
        for _ in range(60):
            self._press(1)
            for user in used:
                used[user] += user.load
        mean = sum(used.values()) / len(used)
        for load in used.values():
            assert abs(load - mean) < 0.15 * mean, f"shares do not converge: {[*used.values()]}"
        assert self.counts["create"] == n_created, "the pool makes machines again and again"
        assert {row.state for row in self.tables.workers.values()} == {"active"}


def _may_cause(job: Job) -> bool:
    return job.priority is not None and job.caused != job.last_run
