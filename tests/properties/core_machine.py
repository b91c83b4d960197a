"""The machine that calls the SQL core and does the same to its model: all its rules.

`test_model.py` has machines of some of them.
"""

import asyncio
import inspect
from collections import Counter
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RULE_MARKER, Rule, initialize, invariant, precondition, rule

from builders import end_report, job_rows
from properties.command_rules import CommandRules
from properties.condition_rules import ASKS, WAIT, ConditionRules
from properties.delete_rules import DELETIONS_MAX
from properties.drawn_jobs import (
    FAILURES_MAX,
    JOBS,
    NARROW,
    TREE,
    Feature,
    cut_rows,
    groups_of,
    sets_of,
    tries_of,
)
from properties.gate_rules import GATES, REGIONS, WORKERS, Gates, shapes_of
from properties.hold_rules import BATCHES, SETS, WORDS, SetRules
from properties.jobs_model import RUN, B, Batch, Job, R, S
from properties.keep_rules import KeepRules
from properties.ledger_rules import LedgerRules
from properties.monitor_rules import MonitorRules
from properties.priority_rules import PriorityRules
from properties.resubmit_rules import ResubmitRules
from properties.said_ends import END_RULES, ENDS, MORE, End, meaning_of
from properties.shares import SHARE
from properties.stop_rules import StopRules
from properties.worker_rules import MoreRules
from store.backend import Backend
from store.world import Worker, World, open_world
from weft.core import errors
from weft.core.states import Need, Reason
from weft.ports.store import UNKEYED, Claimed, JobRows

AN_HOUR_US = 3_600_000_000
"""Of microseconds: a job that is said to run that long ends when its end is reported, so that
dates are in the order of the calls.
"""
HAS_RULES, ASKS_MORE = 1 << 20, 1 << 21
"""The bits of `retry_on` that say so."""
Result = TypeVar("Result")


class Machine(
    PriorityRules,
    ConditionRules,
    ResubmitRules,
    StopRules,
    KeepRules,
    MoreRules,
    LedgerRules,
    CommandRules,
    MonitorRules,
    SetRules,
):
    """Calls functions of the core and does the same to the model."""

    runner: asyncio.Runner
    backend: Backend
    rule_weights: ClassVar[Mapping[str, int]]
    """The rules that this machine has, and how often each comes beside the others."""
    features: ClassVar[frozenset[Feature]]

    known_rules: ClassVar[Mapping[str, Rule]] = {}
    counts: ClassVar[Counter[str]]

    def __init_subclass__(cls) -> None:
        """Leave the choice of rules to `step`: Hypothesis leaves out half of them in each example,
        and we can afford few examples.
        """
        super().__init_subclass__()
        known = dict(cls.known_rules)
        for name, member in inspect.getmembers(cls):
            one = getattr(member, RULE_MARKER, None)
            if one is not None and name != "step":
                known[name] = one
                setattr(cls, name, one.function)
        cls.known_rules, cls.counts = known, Counter()

    def __init__(self) -> None:
        super().__init__()
        self.stack = AsyncExitStack()
        self.world: World = self.run(self.stack.enter_async_context(open_world(self.backend)))
        self.workers: list[Worker] = [self.register(number) for number in WORKERS]
        self.ids = [self.make_batch(which) for which in BATCHES]
        self.models = [Batch() for _ in BATCHES]
        self.held: dict[tuple[int, int], tuple[int, Claimed]] = {}
        """Owner and claim of live attempts by batch and job."""
        self.ended: list[tuple[int, Claimed, Reason | None]] = []
        self.open: list[tuple[int, int, list[JobRows], list[Job]]] = []
        """Updates that are filled and not committed."""

    def run(self, call: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(call)

    def failures_max(self, which: int) -> dict[int, int]:
        return dict(FAILURES_MAX[which]) if Feature.LIMITS in self.features else {}

    def register(self, number: int, *, again: int = 0) -> Worker:
        name = f"w{number}"
        made = self.world.worker(
            name,
            incarnation=f"{self.world.pool}-{name}-{again}",
            gone=True,
            region=REGIONS[number],
        )
        return self.run(made)

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Do one of the rules that are possible now."""
        able = [
            name
            for name, weight in self.rule_weights.items()
            if all(is_met(self) for is_met in self.known_rules[name].preconditions)
            for _ in range(weight)
        ]
        name = data.draw(st.sampled_from(able), label="rule")
        one = self.known_rules[name]
        arguments = {key: data.draw(what, label=key) for key, what in one.arguments.items()}
        self.counts[name] += 1
        one.function(self, **arguments)

    # ------------------------------------------------------------------ submission

    def _drawn(
        self, which: int, drawn: list[dict[str, Any]], first: int
    ) -> tuple[list[Job], JobRows]:
        """Return jobs for the model and rows for the database; both of the same choices."""
        model = self.models[which]
        jobs, parents, groups = [], {}, []
        loose: dict[int, set[tuple[int, int]]] = {Need.END: set(), Need.START: set(), SHARE: set()}
        for number, drawn_one in enumerate(drawn, first):
            one = {**drawn_one}
            for feature, fields in NARROW.items():
                one |= {} if feature in self.features else fields
            possible = [*self._interesting(model), *range(first, number)]
            chosen = {possible[choice % len(possible)] for choice in one["parents"] if possible}
            need, at = one.pop("need"), {p: p - first + 1 if p >= first else -p for p in chosen}
            own = {"parents": chosen, "sets": {*one["sets"]}, **tries_of(one)}
            for of, name in (Need.END, "on_end"), (Need.START, "on_start"), (SHARE, "of_share"):
                own[name] = {p for p in chosen if need == of and (p % 2 or of == SHARE)}
                loose[of] |= {(number - first + 1, at[p]) for p in own[name]}
            jobs.append(Job(number=number, **{**one, **own}))
            parents[number - first + 1] = [*at.values()]
            groups.append(-one["group"])
        rows = job_rows(
            len(drawn),
            parents=parents,
            group=groups,
            priority=[j.priority for j in jobs],
            always_run=[j.always_run for j in jobs],
            max_attempts=[j.max_attempts for j in jobs],
            sets=sets_of(jobs, first),
            shapes=shapes_of(self.world.pool),
            shape_index=[j.shape for j in jobs],
            shares=dict.fromkeys(loose[SHARE], SHARE),
            on_end=loose[Need.END],
            on_start=loose[Need.START],
        )
        for job in jobs:
            fields = {
                **({"gates": gates} if (gates := self.gates_of(job)) else {}),
                **(self.deadline_of(which) if job.has_deadline else {}),
                **({"preemptible": True} if job.is_preemptible else {}),
                **({"retry": WAIT} if job.waits else {}),
                **({"end_rules": END_RULES} if job.has_rules else {}),
                **({"more": MORE} if job.asks_more else {}),
            }
            if fields:
                rows.rare_job.append(job.number - first + 1)
                rows.rare_fields.append(fields)
        rows.retry_on = [
            sum(1 << reason for reason in job.retry_on)
            + job.waits
            + HAS_RULES * job.has_rules
            + ASKS_MORE * job.asks_more
            for job in jobs
        ]
        return jobs, rows

    @staticmethod
    def _interesting(model: Batch) -> list[int]:
        """Return jobs that may be parents: those that the sweep tells of, live ones, a few."""
        live = [job.number for job in model.jobs.values() if job.state < S]
        ended = [job.number for job in model.jobs.values() if job.state >= S]
        return [*sorted(model.untold), *live[-4:], *ended[-2:]]

    def _reserve(self, which: int, n_jobs: int) -> tuple[int, int] | None:
        try:
            update, _is_new = self.run(
                self.world.api.create_update(
                    self.world.caller, self.ids[which], UNKEYED, n_jobs=n_jobs, n_groups=0
                )
            )
        except errors.BatchCancelled:
            assert 0 in self.models[which].cancelled
            return None
        assert 0 not in self.models[which].cancelled
        return update.update_id, update.first_job

    @initialize(drawn=st.tuples(JOBS, JOBS), gates=st.tuples(GATES, GATES))
    def begin(self, drawn: tuple[list[dict[str, Any]], ...], gates: tuple[Gates, ...]) -> None:
        """Make a queue, a tree of groups in each batch, and the first jobs."""
        if Feature.GATES in self.features:
            self.save_queue(2)
            self.set_licence(3)
        if Feature.MONITOR in self.features:
            self.save_limits()
        for which in BATCHES:
            self.begin_batch(which, drawn[which], gates[which])

    def begin_batch(self, which: int, drawn: list[dict[str, Any]], gates: Gates) -> None:
        if Feature.GATES in self.features:
            self.shut(which, gates)
        most = self.failures_max(which)
        self.models[which].failures_max = most
        self.run(self.world.submit(0, batch=self.ids[which], groups=groups_of(most)))
        self.models[which].parent_of = {0: None, **dict(enumerate(TREE, 1))}
        self.models[which].parent_of |= dict.fromkeys(SETS)
        self.fill_update(which, drawn, 0, commit=True)

    @precondition(lambda self: len(self.deleted) < DELETIONS_MAX)
    @rule(which=st.sampled_from(BATCHES), drawn=JOBS, gates=GATES)
    def delete_batch(self, which: int, drawn: list[dict[str, Any]], gates: Gates) -> None:
        self.forget(which)
        self.begin_batch(which, drawn, gates)

    @rule(which=st.sampled_from(BATCHES), drawn=JOBS, commit=st.booleans(), cut=st.integers(0, 5))
    def fill_update(
        self, which: int, drawn: list[dict[str, Any]], cut: int, *, commit: bool
    ) -> None:
        reserved = self._reserve(which, len(drawn))
        if reserved is None:
            return
        update, first = reserved
        jobs, rows = self._drawn(which, drawn, first)
        bunches = cut_rows(rows, cut) if 0 < cut < len(jobs) else [rows]
        for bunch in reversed(bunches):
            assert self.run(
                self.world.api.add_jobs(self.world.caller, self.ids[which], update, bunch)
            )
            self.note_gates(which, jobs[bunch.first_job - 1 :][: bunch.n_jobs])
        self.models[which].staged.append(jobs)
        self.models[which].start()
        self.open.append((which, update, bunches, jobs))
        if commit:
            self.commit_update(len(self.open) - 1)

    @precondition(lambda self: self.open)
    @rule(choice=st.integers(0, 99))
    def commit_update(self, choice: int) -> None:
        which, update, bunches, jobs = self.open[choice % len(self.open)]
        model, api, caller = self.models[which], self.world.api, self.world.caller
        for bunch in bunches:
            assert not self.run(api.add_jobs(caller, self.ids[which], update, bunch))
        # A parent that is not committed itself cannot be drawn, so only a cancel is in the way.
        forbidden = any(set(model.groups_of(job)) & model.cancelled.keys() for job in jobs)
        if forbidden or 0 in model.cancelled:
            with pytest.raises(errors.BatchCancelled):
                self.run(api.commit_update(caller, self.ids[which], update))
            return
        for _ in range(2):
            assert self.run(api.commit_update(caller, self.ids[which], update)).committed
        self.open.pop(choice % len(self.open))
        model.staged.remove(jobs)
        model.commit(jobs)
        self.note_given()

    # ------------------------------------------------------------------ work

    def _some(self, owner: int, choices: list[int]) -> list[tuple[int, Claimed]]:
        """Return some of the attempts that a worker has, with their batch."""
        held = [(which, one) for (which, _job), (who, one) in self.held.items() if who == owner]
        return (
            [held[number] for number in sorted({choice % len(held) for choice in choices})]
            if held
            else []
        )

    @precondition(lambda self: self.held)
    @rule(owner=st.sampled_from(WORKERS), choices=st.lists(st.integers(0, 9), min_size=1))
    def start(self, owner: int, choices: list[int]) -> None:
        some = self._some(owner, choices)
        if some:
            assert set(self.run(self.workers[owner].start(*[one for _which, one in some]))) == {
                "ok"
            }
        for which, one in some:
            self.models[which].start(one.job_id)

    @precondition(lambda self: self.held)
    @rule(
        owner=st.sampled_from(WORKERS),
        choices=st.lists(st.integers(0, 9), min_size=1),
        ends=st.lists(st.sampled_from(ENDS), min_size=10, max_size=10),
        ran=st.booleans(),
        limit=st.integers(0, 6),
    )
    def complete(
        self, owner: int, choices: list[int], ends: list[End], *, ran: bool, limit: int
    ) -> None:
        """End some attempts; with a limit also claim that many, in the same call."""
        some = self._some(owner, choices)
        if not some:
            return
        reports, told = [], []
        for (which, one), end in zip(some, ends, strict=False):
            started = ran or self.models[which].jobs[one.job_id].started
            reports.append(
                end_report(
                    one,
                    end.reason,
                    start_age_us=AN_HOUR_US if started else None,
                    exit_code=end.exit_code,
                    signal=end.signal,
                )
            )
            told.append((which, one, end, started))
        # One of them twice: it counts once.
        worker, claimed = self.workers[owner], None
        if limit:
            verdicts, claimed = self.run(worker.end_and_claim([*reports, reports[0]], limit))
        else:
            verdicts = self.run(worker.store.complete_attempts(worker.id, [*reports, reports[0]]))
        assert set(verdicts) == {"ok"}
        # All reports are recorded before the children are told.
        for which, one, end, _started in told:
            job = self.models[which].jobs[one.job_id]
            self.ended.append((owner, one, meaning_of(end, has_rules=job.has_rules)[0]))
            del self.held[which, one.job_id]
        for which in BATCHES:
            mine = [(one.job_id, end, started) for at, one, end, started in told if at == which]
            self.models[which].end(*mine)
        if claimed is not None:
            gated = any(
                model.gated or any(job.has_gates for job in model.jobs.values())
                for model in self.models
            )
            self.note_claim(owner, claimed, None if gated else self.offers(owner)[:limit])

    @precondition(lambda self: self.ended)
    @rule(choice=st.integers(0, 99), end=st.sampled_from(ENDS), thief=st.sampled_from(WORKERS))
    def report_again(self, choice: int, end: End, thief: int) -> None:
        owner, one, recorded = self.ended[choice % len(self.ended)]
        job = self.models[self.ids.index(one.batch_id)].jobs[one.job_id]
        meaning, _ = meaning_of(end, has_rules=job.has_rules)
        expected = "ok" if (thief, meaning) == (owner, recorded) else "stale"
        self.note_gone({(one.batch_id, one.job_id, one.attempt)} if thief == owner else set())
        again = self.workers[thief].end(
            one, reason=end.reason, exit_code=end.exit_code, signal=end.signal
        )
        assert self.run(again) == [expected]
        assert self.run(self.workers[thief].start(one)) == ["stale"]

    @precondition(lambda self: self.held)
    @rule(owner=st.sampled_from(WORKERS))
    def steal(self, owner: int) -> None:
        """Report on what another worker has."""
        others = [one for who, one in self.held.values() if who != owner]
        if others:
            assert set(self.run(self.workers[owner].end(*others))) == {"stale"}
            assert set(self.run(self.workers[owner].start(*others))) == {"stale"}

    @rule(owner=st.sampled_from(WORKERS))
    def beat(self, owner: int) -> None:
        self.beat_without(owner, set())

    def beat_without(self, owner: int, silent: set[tuple[int, int]]) -> None:
        """Let a worker name what it has, but not these."""
        mine = [
            (which, one)
            for which, one in self._some(owner, list(range(len(self.held) + 1)))
            if (which, one.job_id) not in silent
        ]
        # What it does not name counts as ended, so it names those of deleted batches, too.
        dying = [one for who, one in self.dying if who == owner]
        stopped = self.stopped_on(owner)
        named = [*(one for _which, one in mine), *dying, *stopped]
        answer = self.run(self.workers[owner].beat(*named))
        self.note_beat(owner, {(which, one.job_id) for which, one in mine})
        stops = {
            (one.batch_id, one.job_id, one.attempt)
            for which, one in mine
            for model in [self.models[which]]
            if model.is_cancelled(job := model.jobs[one.job_id])
            or job.cancel_asked
            or job.late_asked
            or job.is_stopped
        }
        stops |= {(one.batch_id, one.job_id, one.attempt) for one in [*dying, *stopped]}
        assert answer.alive
        assert set(answer.to_stop) == stops
        assert answer.has_work == bool(self.offers(owner))
        kept = self.kept.get(self.workers[owner].id)
        assert kept is None or kept[0] not in self.ids or answer.kept == self.waits(kept)

    @rule(owner=st.sampled_from(WORKERS), leaves=st.booleans())
    def lose(self, owner: int, *, leaves: bool) -> None:
        worker = self.workers[owner]
        if leaves:
            self.run(worker.store.leave(worker.id))
            self.note_leave(owner)
        self.begin_again(owner)

    def begin_again(self, owner: int) -> None:
        """Start a worker again, which loses all that it had."""
        self.workers[owner] = self.register(owner, again=self.workers[owner].id)
        for model in self.models:
            model.lose(owner)
        self.note_gone({key for key, stop in self.stops.items() if stop.owner == owner})
        self.held = {key: value for key, value in self.held.items() if value[0] != owner}
        self.ended = [one for one in self.ended if one[0] != owner]
        self.dying = [one for one in self.dying if one[0] != owner]

    # ------------------------------------------------------------------ cancels and the driver

    @rule(which=st.sampled_from(BATCHES), choices=st.lists(st.integers(0, 20), max_size=3))
    def cancel_jobs(self, which: int, choices: list[int]) -> None:
        model = self.models[which]
        live = [job.number for job in model.jobs.values() if job.state < S] or [*model.jobs]
        numbers = sorted({live[choice % len(live)] for choice in choices if live})
        if numbers:
            self.run(self.world.api.cancel_jobs(self.world.caller, self.ids[which], numbers))
        for number in numbers:
            model.cancel_job(number)

    @rule(
        which=st.sampled_from(BATCHES),
        group=st.sampled_from([0, 1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 5]),
        force=st.booleans(),
    )
    def cancel_group(self, which: int, group: int, *, force: bool) -> None:
        model = self.models[which]
        is_new = self.run(
            self.world.api.cancel_group(self.world.caller, self.ids[which], group, force=force)
        )
        is_lasting = group in model.cancelled and group not in model.by_limit
        assert is_new == (not is_lasting or (force and not model.cancelled[group]))
        model.cancel_group(group, force=force)

    @rule(limit=st.sampled_from([1, 3, 1000]))
    def sweep(self, limit: int) -> None:
        self.run(self.world.sweep(limit))
        for model in self.models:
            model.sweep()

    # ------------------------------------------------------------------ what must hold

    @invariant()
    def states_are_as_in_the_model(self) -> None:
        for batch_id, model in zip(self.ids, self.models, strict=True):
            jobs = self.run(
                self.world.api.list_jobs(self.world.caller, batch_id, after=0, limit=1000)
            )
            found = {
                job["job_id"]: (job["state"], job["attempt"], job["held"], job["priority"])
                for job in jobs
            }
            assert found == {
                job.number: (
                    WORDS[job.state],
                    job.attempt,
                    job.state < S and model.is_held(job),
                    job.priority,
                )
                for job in model.jobs.values()
            }

    def teardown(self) -> None:
        """Run everything to its end, then let the audit look."""
        try:
            if Feature.GATES in self.features:
                self.release_all()
                self.go_on_with_priorities(1000, 1000)
                self.open_gates()
                self.set_licence(3)
            self.uncordon_all()
            self._go_on()
            while any(
                job.state in {R, RUN, B} for model in self.models for job in model.jobs.values()
            ):
                for owner in WORKERS:
                    self.claim(owner, 1000)
                    self.complete(owner, list(range(1000)), [End()] * 1000, ran=True, limit=0)
                if any(model.is_late for model in self.models):
                    self.look_at_deadlines(1000)
                self.release_blocked()
                for ask in ASKS:
                    self.test_condition(ask, passed=True)
                self._go_on()
                self.states_are_as_in_the_model()
            assert all(job.state >= S for model in self.models for job in model.jobs.values())
            self.fold()
            self.counters_and_costs_are_exact()
            self.remove_all()
        finally:
            self.run(self.stack.aclose())

    def _go_on(self) -> None:
        """Let the driver do what lets jobs go on."""
        self.sweep(1000)
        if Feature.GATES in self.features:
            self.settle_gates()
        if Feature.MONITOR in self.features:
            self.note_gone(set(self.stops))
            self.run(self.confirm_all())
            self.look_at_limits(gives_up=False)
