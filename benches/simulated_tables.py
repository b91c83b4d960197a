"""The database's protocol in memory, in virtual time: who may claim, start, end and lose what."""

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

from benches.simulated_draws import Draws
from weft.core.billing.spending import Spending, Stage
from weft.core.ends import retry_policy
from weft.core.pools import Flavour
from weft.core.scheduling.fair_share import UserWork, fair_shares
from weft.core.scheduling.lease import Budget

GRACE_S: Final = 30.0
LOSSES_MAX: Final = 5
TRIES: Final = 3
PATIENCE_S: Final = 3.0
LAST_S: Final = 60.0
"""After it has given its places back, a job comes last at its gate."""
TEST_S: Final = 5.0
"""Between two tests of a condition."""
PREEMPTED_WAIT_S: Final = 20.0
POLICY: Final = retry_policy.completed({"policy": "exponential", "first_s": 2, "longest_s": 20})


class Job:
    """A job that has not ended."""

    def __init__(self, number: int, user: "User", cpu_m: int, runs_s: float) -> None:
        self.number, self.user, self.cpu_m, self.runs_s = number, user, cpu_m, runs_s
        self.priority: int | None = None
        self.owner: Worker | None = None
        self.start_s: float | None = None
        self.opens_s: float | None = None
        self.gate: Gate | None = None
        self.places, self.placed_s, self.last_until_s = 1, 0.0, 0.0
        """At its gate: how many it needs, since when it has them, and until when it comes last."""
        self.attempt = self.last_run = self.losses = self.tries = 0
        self.stopped = self.caused = -1
        """The attempt that was told to stop; the last run before it made others stop."""


class Gate:
    """Places for jobs of all users. A job has its places from its admission to its end; only then
    may it be claimed.
    """

    def __init__(self, name: str, most: int) -> None:
        self.name, self.most = name, most
        self.holders: dict[int, Job] = {}

    @property
    def n_taken(self) -> int:
        return sum(job.places for job in self.holders.values())

    def holds(self, job: Job) -> bool:
        """Say whether a job has its places."""
        return job.number in self.holders

    def admit(self, waiting: Sequence[Job], now: float) -> None:
        """Give places in this order: nobody passes one that needs more than there is."""
        for job in waiting:
            if self.n_taken + job.places > self.most:
                return
            self.holders[job.number], job.placed_s = job, now


class Condition:
    """What jobs wait for together until a test of it passes."""

    def __init__(self, number: int, now: float) -> None:
        self.number, self.since_s, self.next_s = number, now, now
        self.jobs: dict[int, Job] = {}


class User:
    """A user's part of the pool; some have a limit, in mCPU hours from the claim on."""

    def __init__(self, number: int, weight: float) -> None:
        self.number, self.weight, self.running_m = number, weight, 0
        self.ready: dict[int, Job] = {}
        self.stage, self.near, self.amount, self.used = Stage.BELOW, False, 1e12, 0.0
        self.version, self.judged, self.grown_m, self.is_slow = 0, 0, 0, True
        self.was_near, self.most_m = False, math.inf
        """When a machine was there last; up to what it may run by the last look."""
        self.taken_m = self.unseen_m = 0
        """All that it ever started; of that, what came between the last look and its decision."""
        self.at_s = self.seen_s = self.due_s = self.fresh_until_s = self.used_due = 0.0
        self.admitted: dict[int, tuple[int, float]] = {}
        """By job: for which attempt, and when."""

    @property
    def load(self) -> float:
        return self.running_m / self.weight

    def accrue(self, now: float) -> None:
        if self.at_s < self.due_s <= now:
            self.used_due = self.used + self.running_m * (self.due_s - self.at_s) / 3600
        self.used += self.running_m * (now - self.at_s) / 3600
        self.at_s = now

    def is_admitted(self, job: Job) -> bool:
        return self.admitted.get(job.number, (0, 0.0))[0] == job.attempt + 1

    def claimable(self, most_m: float = math.inf) -> list[Job]:
        """Return the jobs that a worker of this size may have."""
        return [job for job in self.below_limit(most_m) if job.gate is None or job.gate.holds(job)]

    def below_limit(self, most_m: float = math.inf) -> list[Job]:
        """Return those that its limit keeps from none, whether gates do or not."""
        if self.stage is Stage.REACHED:
            return []
        jobs = [job for job in self.ready.values() if job.cpu_m <= most_m]
        return [job for job in jobs if self.is_admitted(job)] if self.near else jobs

    def spending(self, now: float, could_m: int) -> Spending:
        self.accrue(now)
        admitted = sum(job.cpu_m for job in self.below_limit()) if self.near else 0
        return Spending(
            amount_max=Decimal(self.amount),
            amount_soft_max=Decimal(self.amount * 0.8),
            used=Decimal(self.used),
            used_per_hour=Decimal(self.running_m),
            stage=self.stage,
            near=self.near,
            could_use_per_hour=Decimal(could_m),
            admitted_per_hour=Decimal(admitted),
        )

    def admit(self, room_m: float, now: float) -> tuple[int, bool]:
        """Admit what fits; return how many, and whether something did not fit."""
        count, is_short, has_less = 0, False, room_m < 0
        for job in sorted(self.ready.values(), key=lambda job: job.number):
            if job.cpu_m >= room_m:
                is_short = is_short or not self.is_admitted(job)
            elif not self.is_admitted(job):
                room_m -= job.cpu_m
                self.admitted[job.number] = job.attempt + 1, now
                count += 1
        patience_s = 0.0 if has_less else PATIENCE_S
        for number, (_, at_s) in list(self.admitted.items()):
            if (is_short or has_less) and at_s < now - patience_s:
                del self.admitted[number]
        return count, is_short


class Worker:
    """A machine and its worker's incarnation, as the database knows them."""

    def __init__(self, name: str, flavour: Flavour, now: float) -> None:
        self.name, self.flavour, self.cpu_m, self.since_s = name, flavour, flavour.cpu_m, now
        self.state: Any = "creating"
        self.lives, self.comes, self.heard_s, self.n_claims = False, True, now, 0
        self.jobs: dict[int, Job] = {}

    @property
    def takes(self) -> bool:
        return self.lives and self.state == "active"

    @property
    def used_m(self) -> int:
        return sum(job.cpu_m for job in self.jobs.values())


class Tables:
    """All rows, and the functions that change them."""

    def __init__(self, draws: Draws) -> None:
        self.draws, self.now, self.epoch = draws, 0.0, 1
        self.n_jobs = 0
        self.users = [User(number, weight) for number, weight in enumerate((1.0, 1.0, 2.0, 1.0))]
        self.jobs: dict[int, Job] = {}
        self.workers: dict[str, Worker] = {}
        self.gates = [Gate("licence", 1), Gate("disk", 3)]
        self.conditions: dict[int, Condition] = {}

    def submit(self, user: User, cpu_m: int, runs_s: float, priority: int | None = None) -> Job:
        self.n_jobs += 1
        job = self.jobs[self.n_jobs] = user.ready[self.n_jobs] = Job(
            self.n_jobs, user, cpu_m, runs_s
        )
        job.priority = priority
        return job

    def claim(self, worker: Worker, budget: Budget) -> list[Job]:
        """Give jobs in fair-share order; the last one of a share is taken whole."""
        taken: list[Job] = []
        users = [user for user in self.users if worker.takes and user.claimable(worker.cpu_m)]
        users.sort(key=lambda user: (user.load, user.number))
        left_m, left_by, last = budget.cpu_m, set[User](), dict[User, float]()
        for nth in range(3):  # shares; shares of what they left; the rest by load
            others = users if nth == 2 else [user for user in users if user not in left_by]
            has_shares = nth < 2 and len(users) > 1
            shares = _shares(others, left_m) if has_shares else [math.inf] * len(others)
            over_m = 0.0
            for user, share in zip(others, shares, strict=True):
                share_m = share + over_m
                while share_m > 0 and len(taken) < budget.jobs and left_m > 0:
                    jobs = user.claimable(worker.cpu_m)
                    job = min(jobs, key=lambda job: job.number, default=None)
                    if job is None:
                        left_by.add(user)
                        break
                    if job.cpu_m > left_m and taken:
                        return taken
                    last[user] = user.load
                    self._take(worker, job)
                    taken.append(job)
                    share_m -= job.cpu_m
                    left_m -= job.cpu_m
                over_m = min(share_m, 0.0)
        if len(taken) < budget.jobs:
            self._check_fair(last, worker, max((job.cpu_m for job in taken), default=0))
        return taken

    def _check_fair(self, last: dict[User, float], worker: Worker, largest_m: int) -> None:
        """Whoever got a job ran no more before its last one than those who still wait do now."""
        for user, load in last.items():
            for other in self.users:
                is_behind = load > other.load + largest_m / other.weight
                waits_m = sum(job.cpu_m for job in other.claimable(worker.cpu_m))
                assert not is_behind or waits_m <= largest_m, (
                    f"user {user.number} ran {load:g} and got a job, while user {other.number} "
                    f"ran {other.load:g} and waits"
                )

    def _take(self, worker: Worker, job: Job) -> None:
        user, now_m = job.user, job.user.running_m + job.cpu_m
        assert user.near or not user.was_near, "near its end, a limit lets start all that waits"
        assert now_m < user.most_m + 1, f"{now_m} start, and {user.most_m:g} fit below the limit"
        del user.ready[job.number]
        assert job.owner is None
        assert not any(job.number in one.jobs for one in self.conditions.values())
        if job.gate is not None:
            assert job.gate.holds(job)
            assert job.gate.n_taken <= job.gate.most
        job.owner, job.start_s = worker, None
        job.attempt += 1
        worker.jobs[job.number] = job
        worker.n_claims += 1
        user.accrue(self.now)
        user.running_m += job.cpu_m
        user.taken_m += job.cpu_m

    def is_its(self, worker: Worker, number: int, attempt: int) -> bool:
        return number in worker.jobs and worker.jobs[number].attempt == attempt

    def end(self, worker: Worker, number: int, attempt: int, outcome: str) -> None:
        """End an attempt, or start it; reports that come late, or twice, change nothing."""
        if not self.is_its(worker, number, attempt):
            return
        job = worker.jobs[number]
        if outcome == "started":
            job.start_s, job.last_run = self.now, attempt
            return
        del worker.jobs[number]
        job.user.accrue(self.now)
        job.user.running_m -= job.cpu_m
        if job.gate is not None:
            del job.gate.holders[number]
            if self.draws.gates.random() < 0.5:  # else the gate is busy, and the driver does it
                self.pass_gates()
        job.owner, wait_s = None, self._wait_s(job, outcome)
        if outcome.isdigit():
            self._block(job, int(outcome))
        elif outcome == "success" or wait_s is None:
            del self.jobs[number]
        elif wait_s:
            job.opens_s = self.now + wait_s
        else:
            job.user.ready[number] = job

    def _wait_s(self, job: Job, outcome: str) -> float | None:
        """Return how long a job is blocked now; None: it has failed for good."""
        if outcome == "failed":
            job.tries += 1
            draw = self.draws.retries.random()
            return retry_policy.wait_s(POLICY, job.tries, draw=draw) if job.tries < TRIES else None
        if outcome in ("lost", "preempted") and job.start_s is not None:
            job.losses += 1
            wait_s = PREEMPTED_WAIT_S if outcome == "preempted" else 0.0
            return wait_s if job.losses <= LOSSES_MAX else None
        return 0.0

    def _block(self, job: Job, number: int) -> None:
        """Let it wait for a condition with others."""
        condition = self.conditions.setdefault(number, Condition(number, self.now))
        condition.jobs[job.number] = job

    def note_test(self, number: int, *, passed: bool) -> None:
        """Let all jobs go on that wait for a condition, if its test passed."""
        condition = self.conditions.get(number)
        if condition is None:
            return
        condition.next_s = self.now + TEST_S
        if passed:
            del self.conditions[number]
            for job in condition.jobs.values():
                job.user.ready[job.number] = job

    def pass_gates(self) -> None:
        """Give places to the next jobs, and take back what nobody claims while others wait."""
        ready = [job for user in self.users for job in user.below_limit() if job.gate]
        ready.sort(key=lambda job: (job.last_until_s > self.now, job.user.load, job.number))
        for gate in self.gates:
            waiting = [job for job in ready if job.gate is gate and not gate.holds(job)]
            for job in [job for job in gate.holders.values() if job.owner is None]:
                is_paused = job not in ready
                if is_paused or (waiting and self.now - job.placed_s > PATIENCE_S):
                    del gate.holders[job.number]
                    job.last_until_s = self.now + LAST_S
            gate.admit(waiting, self.now)

    def release(self) -> None:
        for job in self.jobs.values():
            if job.opens_s is not None and job.opens_s <= self.now:
                job.opens_s, job.user.ready[job.number] = None, job

    def beat(self, worker: Worker, names: set[tuple[int, int]]) -> list[Job]:
        """Return what is to be stopped. What a worker does not name comes back."""
        worker.heard_s = self.now
        for job in list(worker.jobs.values()):
            if (job.number, job.attempt) not in names:
                self.end(worker, job.number, job.attempt, "lost")
        return [
            job
            for job in worker.jobs.values()
            if job.stopped == job.attempt or job.user.stage is Stage.REACHED
        ]

    def lose(self, worker: Worker) -> None:
        for job in list(worker.jobs.values()):
            self.end(worker, job.number, job.attempt, "lost")
        worker.lives = False

    def lose_silent(self) -> None:
        for worker in self.workers.values():
            if worker.lives and self.now - worker.heard_s > GRACE_S:
                self.lose(worker)

    def register(self, worker: Worker) -> None:
        self._grow(worker)
        worker.lives, worker.heard_s = True, self.now

    def _grow(self, worker: Worker) -> None:
        """Count what a limit cannot foresee: not what comes to an empty pool near its end."""
        is_empty = not self.could_m()
        for user in self.users:
            if not (is_empty and user.was_near):
                user.grown_m += worker.cpu_m

    def move(self, name: str, kind: str) -> None:
        """Cordon a machine, take that back, or let its worker end when nothing runs there."""
        row = self.workers.get(name)
        if row is None or row.state == "deleting":
            return
        if kind == "delete" or (kind == "cordon") == (row.state == "active"):
            self._grow(row)
            row.state = {"cordon": "cordoned", "uncordon": "active", "delete": "deleting"}[kind]
            row.since_s = self.now

    def could_m(self) -> int:
        return sum(worker.cpu_m for worker in self.workers.values() if worker.takes)


def _shares(users: Sequence[User], budget_m: int) -> Sequence[float]:
    ready_m = [
        sum(job.cpu_m for job in user.ready.values() if job.gate is None or job.gate.holds(job))
        for user in users
    ]
    work = zip(users, ready_m, strict=True)
    return fair_shares([UserWork(one.running_m, m, one.weight) for one, m in work], budget_m)
