"""What the SQL core does, in plain Python: the model that the property test compares it with."""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain

from end_states import state_of_end
from properties.prioritizing import Prioritizing
from properties.said_ends import LIMITS_S, MEMORY_MIB, End, meaning_of
from properties.shares import is_met
from weft.core.states import Reason
from weft.settings import Settings

P, R, RUN, B, S, F, E, C = 0, 1, 4, 5, 6, 7, 8, 9
LOSSES_MAX = Settings().losses_max
REGIONAL, QUEUED, N_LANES = 1, 2, 4
"""A job's lane is their sum: it needs a region, and waits in a queue with a limit that all batches
share."""

ROUNDS = 1
"""How often the monitor stops a job before that is final."""
STOPPED = -1
"""What a job waits for whose attempt the monitor has stopped."""


@dataclass
class Job:
    """One committed job."""

    number: int
    group: int
    parents: set[int]
    on_end: set[int]  # of them, those whose end is enough
    on_start: set[int]  # and those whose start is
    of_share: set[int]  # and those of which SHARE % must succeed
    always_run: bool
    priority: int
    max_attempts: int
    retry_on: frozenset[Reason]
    has_rules: bool = False
    """It says which exit codes and signals are tried again, and which are external errors."""
    waits: bool = False
    """Its retries wait."""
    waits_for: int | None = None
    """What it asked to wait for at last; None: when it is blocked, it waits for a date."""
    lane: int = 0
    key: int = 0
    """How many may run with its concurrency key, which all batches share; 0: it has none."""
    licences: int = 0
    asks_more: bool = False
    n_too_small: int = 0
    """How often its memory was."""
    n_too_long: int = 0
    """How often it reached its time limit."""
    first_memory_mib: int = MEMORY_MIB[0]
    is_dated: bool = False
    """It has a `not_before`, the same in all its batch."""
    has_deadline: bool = False
    is_preemptible: bool = False
    sets: set[int] = field(default_factory=set)
    state: int = P
    attempt: int = 0
    uncounted: int = 0
    lost: int = 0
    owner: int | None = None
    started: bool = False
    cancel_asked: bool = False
    is_stopped: bool = False
    """Its attempt is being preempted."""
    was_preempted: bool = False
    """Then it has a gate of its own."""
    is_shut: bool = False
    """The date of that gate has not come."""
    late_asked: bool = False
    """It is being stopped at its deadline."""
    is_late: bool = False
    """It became ready too late, and will end as an error."""
    by_parent: bool = False
    """It was cancelled because a parent did not succeed."""
    by_person: bool = False
    """A person has cancelled it alone."""
    n_runs: int = 0
    """Attempts that had started when they ended."""
    n_signals: int = 0
    """Those on their way to its attempt."""
    messages: list[str] = field(default_factory=list)
    """Those on their way to its attempt."""
    extended_ms: int = 0
    knows_extension: int = 0
    """The attempt that was told of it; 0: none."""
    told: set[int] = field(default_factory=set)
    """Parents of which it knows that they have ended."""
    begun: set[int] = field(default_factory=set)  # of `on_start`, as it knows
    admitted: int = 0
    """The attempt that a near limit lets start."""

    watched: bool | None = None
    """The monitor has noted its attempt, which had started, or not; None: it has not."""
    is_silent: bool = False
    """Its worker has not named it then."""
    n_stops: int = 0
    """How often the monitor has stopped it since a person retried it."""

    @property
    def shape(self) -> int:
        """The number of its first shape (`shapes_of`)."""
        return N_LANES if self.asks_more else self.lane

    @property
    def memory_mib(self) -> int:
        """What its next attempt has."""
        grown = MEMORY_MIB[min(self.n_too_small, 2)] if self.asks_more else 0
        return max(self.first_memory_mib, grown)

    @property
    def limit_s(self) -> int | None:
        """How long its next attempt may run; None: as long as it likes."""
        return LIMITS_S[min(self.n_too_long, 2)] if self.asks_more else None

    @property
    def is_queued(self) -> bool:
        """Whether it waits in the queue that has limits."""
        return bool(self.lane & QUEUED)

    @property
    def has_gates(self) -> bool:
        """Whether it has gates of its own."""
        return bool(
            self.is_queued or self.key or self.licences or self.is_dated or self.was_preempted
        )


@dataclass
class Batch:
    """A batch with its groups (parent by number) and jobs."""

    parent_of: dict[int, int | None] = field(default_factory=lambda: {0: None})
    jobs: dict[int, Job] = field(default_factory=dict)
    cancelled: dict[int, bool] = field(default_factory=dict)
    """Whether by force, by group."""
    ended_before: dict[int, set[int]] = field(default_factory=dict)
    """The jobs of the batch that had ended when a group was first cancelled."""
    limit: int | None = None
    """max_running; None: as many as want to."""
    has_date: bool = False
    dated: bool = False
    """Its gate is still shut."""
    job_date: bool | None = None
    """Whether the date of its dated jobs is still to come; None: it has none."""
    is_late: bool = False
    """It is too late to start jobs with a deadline."""
    failures_max: dict[int, int] = field(default_factory=dict)
    """By group, how many failures cancel it."""
    failures: dict[int, set[int]] = field(default_factory=dict)
    """By such a group, the jobs of which it counts a failure."""
    by_limit: set[int] = field(default_factory=set)
    """Groups that nothing but too many failures has cancelled."""
    is_closed: bool = False
    """Whether the queue takes none of its jobs back."""
    is_paused: bool = False
    """Its billing project is at its limit."""
    is_near: bool = False
    """Only admitted attempts start."""
    held: set[int] = field(default_factory=set)
    """Groups that are held, with all below them."""
    held_jobs: set[int] = field(default_factory=set)
    hidden: bool = False
    n_delivered: int = 0
    """Signals and messages of which a worker said that they were delivered."""
    n_completions: dict[int, int] = field(default_factory=dict)
    """By group, as of the last fold."""
    complete: set[int] = field(default_factory=set)
    """Groups that were complete at the last fold."""
    grown: set[int] = field(default_factory=set)
    """Groups that have got jobs since, or whose jobs run again."""
    operations: list[Prioritizing] = field(default_factory=list)
    """Those that go on, oldest first."""
    untold: set[int] = field(default_factory=set)
    """Ended jobs whose children the sweep will tell."""
    staged: list[list[Job]] = field(default_factory=list)
    """Updates that are filled and not committed."""

    def ancestors(self, group: int | None) -> list[int]:
        """Return a group and all above it."""
        found = []
        while group is not None:
            found.append(group)
            group = self.parent_of[group]
        return found

    def groups_of(self, job: Job) -> list[int]:
        """Return all groups that count a job."""
        return [*self.ancestors(job.group), *job.sets]

    def is_cancelled(self, job: Job, *, but: Collection[int] = ()) -> bool:
        """Say whether a cancel of a group, but of these, forbids the job to run."""
        groups = [g for g in self.groups_of(job) if g in self.cancelled and g not in but]
        forces = [self.cancelled[g] for g in groups]
        return bool(forces) and (any(forces) or not job.always_run)

    def cancel_group(self, group: int, *, force: bool) -> None:
        """Cancel a group; what had ended keeps its state. No retry lifts that any more."""
        self.by_limit.discard(group)
        if group not in self.cancelled:
            self.ended_before[group] = {n for n, job in self.jobs.items() if job.state >= S}
        self.cancelled[group] = self.cancelled.get(group, False) or force

    def _count_failures(self, numbers: Collection[int]) -> None:
        """Count jobs that have failed together; cancel groups in which too many have."""
        for group, most in self.failures_max.items():
            counted = self.failures.setdefault(group, set())
            before = len(counted)
            counted |= {n for n in numbers if group in self.groups_of(self.jobs[n])}
            if before < most <= len(counted) and group not in self.cancelled:
                self.cancel_group(group, force=False)
                self.by_limit.add(group)

    def is_stopping(self) -> bool:
        """Say whether jobs still run that too many failures of others have cancelled."""
        return any(
            job.state == RUN
            and not job.always_run
            and not self.by_limit.isdisjoint(self.groups_of(job))
            for job in self.jobs.values()
        )

    def lift(self) -> set[int]:
        """Lift what too many failures have cancelled, and count them anew."""
        lifted, self.by_limit = self.by_limit, set()
        for group in lifted:
            del self.cancelled[group], self.ended_before[group]
            self.failures[group] = set()
        return lifted

    def state_of(self, group: int) -> str:
        """Return the state of a group, which a cancel does not change if it had ended."""
        counts = self.counts(group)
        jobs = {n for n, job in self.jobs.items() if group in self.groups_of(job)}
        cancels = self.cancelled.keys() & {0, *self.ancestors(group)}
        is_cut_short = any(not jobs or jobs - self.ended_before[one] for one in cancels)
        if any(state < S for state in counts):
            return "cancelled" if is_cut_short else "running"
        otherwise = "cancelled" if C in counts or is_cut_short else "success"
        return "failure" if counts.keys() & {F, E} else otherwise

    def is_held(self, job: Job) -> bool:
        """Say whether it or a group above it is held."""
        return job.number in self.held_jobs or bool(self.held & set(self.groups_of(job)))

    def commit(self, jobs: list[Job]) -> None:
        """Add the jobs of an update."""
        for job in jobs:
            self.jobs[job.number] = job
            self.grown.update(self.groups_of(job))
        for job in jobs:
            ended = {p for p in job.parents if self.jobs[p].state >= S and p not in self.untold}
            job.told |= ended
            self._settle(job)
        # What a commit cancels is left to the sweep, also without children: they may come later.
        self.untold |= {job.number for job in jobs if job.state == C}
        self.end_late([job for job in jobs if self.is_late and job.has_deadline])

    def _settle(self, job: Job) -> None:
        """Decide about a job that waits, when all its parents have ended."""
        share, plain = self.share(job), job.parents - job.of_share
        if job.state != P or share is None or not plain <= job.told | job.begun:
            return
        if job.always_run or (share and all(self.jobs[p].state == S for p in self.needed(job))):
            self._ready(job)
            if self.is_cancelled(job):
                self._end(job, C)
        else:
            self._end(job, C)
            job.by_parent = True

    def needed(self, job: Job) -> set[int]:
        """Return the parents that must succeed: a start is enough once an attempt has begun."""
        begun = {p for p in job.on_start if p in job.begun or self.jobs[p].n_runs}
        return job.parents - job.on_end - job.of_share - begun

    def share(self, job: Job, but: Collection[int] = ()) -> bool | None:
        told = job.of_share - self.untold - {*but}
        return is_met(len(job.of_share), [self.jobs[p].state for p in told])

    def start(self, *numbers: int) -> None:
        """Record that attempts have begun, and tell all that wait for no more."""
        for number in numbers:
            self.jobs[number].started = True
        for job in chain(self.jobs.values(), *self.staged):
            job.begun |= {p for p in job.on_start if p in self.jobs and self.jobs[p].started}
            if job.number in self.jobs:
                self._settle(job)

    def _ready(self, job: Job) -> None:
        job.state = R
        job.is_late = job.has_deadline and self.is_late

    def end_late(self, jobs: list[Job]) -> None:
        """End those that wait, because they cannot end by their deadline."""
        for job in jobs:
            if job.state in {P, R, B}:
                self._end(job, E)

    def _end(self, job: Job, state: int) -> None:
        """End a job elsewhere than in a report."""
        job.state, job.by_parent = state, False
        if state == E:
            self._count_failures([job.number])
        staged = [other for update in self.staged for other in update]
        if any(job.number in other.parents for other in [*self.jobs.values(), *staged]):
            self.untold.add(job.number)

    def retried(
        self, named: Collection[int] | None, *, lifted: Collection[int] = (), copied: bool = False
    ) -> list[int]:
        """Return the jobs that a retry of some jobs, or of all, runs again or copies: also what
        too many failures in these groups have cancelled.
        """
        again: list[int] = []
        for job in sorted(self.jobs.values(), key=lambda one: one.number):
            if named is None:
                is_meant = job.state in {F, E} and not job.cancel_asked
            else:
                is_meant = job.number in named and job.state > S
            is_lifted = not job.by_person and not {*lifted}.isdisjoint(self.groups_of(job))
            is_meant |= job.state == C and (job.by_parent or (is_lifted and not job.always_run))
            is_closed = self.is_cancelled(job, but=lifted)
            is_closed &= not (copied and job.state in {F, E})
            is_closed |= job.has_deadline and self.is_late
            is_bad = any(self.jobs[p].state > S and p not in again for p in self.needed(job))
            is_stuck = not job.always_run and (is_bad or self.share(job, again) is False)
            if is_meant and not is_closed and not is_stuck:
                again.append(job.number)
        return again

    def retry(self, named: Collection[int] | None) -> int:
        """Run again what ended without success; return how many jobs."""
        again = set(self.retried(named, lifted=self.lift() if named is None else ()))
        for counted in self.failures.values():
            counted.difference_update(again)
        for number in again:
            job = self.jobs[number]
            job.state, job.uncounted, job.lost, job.cancel_asked = P, job.attempt, 0, False
            job.late_asked, job.n_stops, job.by_person = False, 0, False
            self.grown.update(self.groups_of(job))
        for job in self.jobs.values():
            job.told -= again
        for number in again:
            job = self.jobs[number]
            job.told = {parent for parent in job.parents if self.jobs[parent].state >= S}
        for number in again:
            self._settle(self.jobs[number])
        for before in self.ended_before.values():
            before.difference_update(again)
        return len(again)

    def _tell_children(self, number: int) -> None:
        for child in self.jobs.values():
            if number in child.parents:
                child.told.add(number)
                self._settle(child)

    @property
    def gated(self) -> bool:
        """Whether its jobs need places."""
        return self.limit is not None or self.has_date

    def claimable(self, lanes: Collection[int] = (0, 1, 2, 3)) -> list[int]:
        """Return what a claim may take if it has passed its gates, in the order of claims."""
        ready = [
            j
            for j in self.jobs.values()
            if j.state == R
            and j.lane in lanes
            and not j.is_late
            and not self.is_cancelled(j)
            and not self.is_held(j)
            and not self.waits_for_limit(j)
        ]
        return [j.number for j in sorted(ready, key=lambda j: (-j.priority, j.number))]

    def waits_for_limit(self, job: Job) -> bool:
        """Say whether its project is at its limit, or near it and has not admitted it."""
        return self.is_paused or (self.is_near and job.admitted <= job.attempt)

    def claim(self, number: int, owner: int) -> None:
        """Make a lease."""
        job = self.jobs[number]
        job.state, job.owner, job.started, job.attempt = RUN, owner, False, job.attempt + 1
        job.is_stopped, job.n_signals, job.messages = False, 0, []
        job.watched, job.is_silent = None, False

    def end(self, *ends: tuple[int, End, bool]) -> None:
        """Record the ends of live attempts, which had started or not, in one report."""
        for number, end, started in ends:
            self._judge(self.jobs[number], end, started=started)
        self._count_failures([one[0] for one in ends if self.jobs[one[0]].state in {F, E}])
        for number, _end, started in ends:
            job = self.jobs[number]
            if self._cannot_return(job) and (started or job.state == B):
                self._end(job, E)
            elif job.state in {R, B} and (job.cancel_asked or self.is_cancelled(job)):
                self._end(job, C)
            elif job.state == R:
                self._ready(job)
            elif job.state >= S:
                self._tell_children(number)

    def _cannot_return(self, job: Job) -> bool:
        """Say whether a job would go back into the queue, which is closed."""
        is_over = job.state not in {R, B} or job.cancel_asked or self.is_cancelled(job)
        return self.is_closed and job.is_queued and not is_over

    def _judge(self, job: Job, end: End, *, started: bool) -> None:
        """Give a job the state in which this end leaves it."""
        reason, is_final = meaning_of(end, has_rules=job.has_rules)
        retry_on = frozenset() if is_final else job.retry_on
        job.n_runs += started
        job.n_too_small += reason is Reason.OOM and started
        job.n_too_long += reason is Reason.TIMEOUT and started
        if reason is Reason.CANCELLED and job.late_asked:
            reason = Reason.DEADLINE
        elif reason is Reason.CANCELLED and job.is_stopped:
            reason = Reason.PREEMPTED
        state = state_of_end(reason)
        if reason in {Reason.LOST, Reason.PREEMPTED}:
            counts = started and Reason.LOST in job.retry_on
            n_tries = job.attempt - job.uncounted
            is_last = n_tries >= job.max_attempts if counts else job.lost >= LOSSES_MAX
            state = state_of_end(Reason.SYSTEM if started and is_last else reason)
            job.uncounted += not counts
            job.lost += started
        elif reason is Reason.OVERDUE:
            state = state_of_end(Reason.SYSTEM if job.n_stops >= ROUNDS else reason)
            job.uncounted += 1
            job.n_stops += 1
            job.waits_for = STOPPED
        elif reason is Reason.BLOCKED:
            job.uncounted += 1
            job.waits_for = end.waits_for
        elif job.attempt - job.uncounted < job.max_attempts and reason in retry_on:
            state = state_of_end(Reason.BLOCKED if job.waits else Reason.LOST)
            job.waits_for = None
        job.state, job.owner, job.started = int(state), None, False

    def unblock(self) -> None:
        """Make blocked jobs ready, as when their dates have come."""
        for job in self.jobs.values():
            if job.state == B and job.waits_for is None:
                self.go_on(job.number)

    def go_on(self, number: int, *, ends: bool = False) -> None:
        """Make a blocked job ready, or end it as an error; one of a cancelled group ends so."""
        job = self.jobs[number]
        if ends or self._cannot_return(job):
            self._end(job, E)
        elif self.is_cancelled(job):
            self._end(job, C)
        else:
            self._ready(job)

    def lose(self, owner: int) -> None:
        """End all that a worker has."""
        mine = [job for job in self.jobs.values() if job.owner == owner]
        self.end(*[(job.number, End(Reason.LOST), job.started) for job in mine])

    def cancel_job(self, number: int) -> None:
        """Cancel a single job."""
        job = self.jobs[number]
        job.by_person |= job.state < S
        if job.state == RUN:
            job.cancel_asked = not job.late_asked
        elif job.state < S:
            self._end(job, C)

    def sweep(self) -> None:
        """Do what the sweep does, until nothing is left."""
        before = None
        while before != (before := [job.state for job in self.jobs.values()]) or self.untold:
            for job in self.jobs.values():
                if job.state in {P, R, B} and self.is_cancelled(job):
                    self._end(job, C)
            while self.untold:
                self._tell_children(self.untold.pop())

    def fold(self) -> None:
        """Note which groups have completed since the last fold."""
        before, self.complete = self.complete, set()
        for group in self.parent_of:
            counts = self.counts(group)
            if counts and all(state >= S for state in counts):
                self.complete.add(group)
                if group not in before or group in self.grown:
                    self.n_completions[group] = self.n_completions.get(group, 0) + 1
        self.grown.clear()

    def counts(self, group: int) -> dict[int, int]:
        """Return how many jobs of a group and below are in each state."""
        states = [j.state for j in self.jobs.values() if group in self.groups_of(j)]
        return {state: states.count(state) for state in set(states)}
