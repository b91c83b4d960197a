"""Gates of single jobs, as rules of the machine that calls the core and its model: keys, licences,
dates and queues, between which jobs move.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from properties.gate_rules import QUEUE, WORKERS, GateRules
from properties.hold_rules import BATCHES
from properties.jobs_model import QUEUED, RUN, B, E, Job, P, R
from properties.said_ends import FAILS, WAITS, End
from weft.core import errors
from weft.ports.store import Gate
from weft.submission.translation.gates import JOB_GATES, licence_gates
from weft.wire.documents.jobs import ConcurrencyKey

KEY = "database"
COSTS: Final[Mapping[str, Any]] = {
    "queue": lambda job: int(job.is_queued),
    "key": lambda job: int(job.key > 0),
    "licence": lambda job: job.licences,
}
"""How many places a job takes of each gate that all batches share."""
_TAKEN = """
    SELECT coalesce(sum(p.cost), 0) FROM weft.gate g JOIN weft.place p USING (gate_id)
    WHERE (g.kind, g.key) IN (('queue', $2), ('concurrency_key', $3), ('licence', $4))
      AND g.kind = $1
"""
_KINDS = {"queue": "queue", "key": "concurrency_key", "licence": "licence"}


class JobGateRules(GateRules):
    """Change limits that batches share, and move jobs to another queue and back."""

    deleted: list[tuple[int, int]]

    def complete(
        self, owner: int, choices: list[int], ends: list[End], *, ran: bool, limit: int
    ) -> None:
        raise NotImplementedError

    @property
    def licence_name(self) -> str:
        """The name of a licence that nobody else uses: all tenants share them."""
        return f"l-{self.world.pool}"

    @rule(count=st.sampled_from([0, 1, 3]))
    def set_licence(self, count: int) -> None:
        self.run(self.world.api.set_licence(self.world.caller, self.licence_name, count))
        self.note_limit("licence", count)

    def gates_of(self, job: Job) -> list[Any]:
        """Return the gates that a job asks for, as the api gives them to the database."""
        gates: list[Gate] = licence_gates({self.licence_name: job.licences})
        if job.key:
            gates.append(JOB_GATES["concurrency_key"].gate(ConcurrencyKey(KEY, job.key)))
        if job.is_dated:
            gates.append(JOB_GATES["not_before"].gate(self.opens_at))
        built: list[Any] = msgspec.to_builtins(gates)
        return built

    def note_gates(self, which: int, jobs: Sequence[Job]) -> None:
        """Note what jobs say of their gates when they are added, all in one bunch."""
        model = self.models[which]
        if any(job.is_dated for job in jobs) and model.job_date is None:
            model.job_date = True
        keys = [job.key for job in jobs if job.key]
        if keys:
            self.note_limit("key", min(keys))

    @rule(
        which=st.sampled_from(BATCHES),
        queued=st.booleans(),
        choices=st.lists(st.integers(0, 20), min_size=1, max_size=6),
    )
    def move_jobs(self, which: int, choices: list[int], *, queued: bool) -> None:
        known = [*self.models[which].jobs.values()]
        chosen = {job.number: job for job in (known[choice % len(known)] for choice in choices)}
        moved = [
            job
            for job in chosen.values()
            if job.state in {P, R} and not job.attempt and job.is_queued != queued
        ]
        n_moved = self.run(
            self.world.api.move_jobs(
                self.world.caller,
                self.ids[which],
                sorted(chosen),
                queue=QUEUE if queued else "default",
                pool=self.world.pool,
            )
        )
        assert n_moved == len(moved)
        for job in moved:
            job.lane ^= QUEUED

    @precondition(lambda self: not self.deleted)
    @rule(end=st.sampled_from([FAILS, WAITS]))
    def delete_queue(self, end: End) -> None:
        """Let the queue go while jobs of it run, which then end without success; make it again.

        It does not go while jobs wait there, also for a condition.
        """
        for which in BATCHES:
            self.move_jobs(which, [*range(len(self.models[which].jobs))], queued=False)
        queued = [
            (self.ids[which], job)
            for which in BATCHES
            for job in self.models[which].jobs.values()
            if job.is_queued
        ]
        if any(job.state in {P, R, B} for _, job in queued):
            with pytest.raises(errors.QueueHasJobs):
                self.run(self.world.api.save_queues(self.world.caller, []))
            return
        self.run(self.world.api.save_queues(self.world.caller, []))
        running = [(batch, job) for batch, job in queued if job.state == RUN]
        was_closed = self.models[0].is_closed
        for model in self.models:
            model.is_closed = True
        for owner in WORKERS:
            self.complete(owner, [*range(1000)], [end] * 1000, ran=True, limit=0)
        for batch, job in running:
            if job.state == E:
                told = self.run(self.world.api.job_history(self.world.caller, batch, job.number))
                assert str(told[-1]["message"]).endswith(f'"{QUEUE}" was deleted')
        for model in self.models:
            model.is_closed = was_closed
        self.save_queue(self.limits["queue"])

    def is_blocked(self, which: int, job: Job) -> bool:
        is_shut = job.is_shut or (job.is_dated and self.models[which].job_date is True)
        return (
            super().is_blocked(which, job)
            or is_shut
            or any(self._is_full(kind, cost(job)) for kind, cost in COSTS.items())
        )

    def _is_full(self, kind: str, cost: int) -> bool:
        """Say whether a gate has too few free places, or keeps them for another job that needs
        several.
        """
        if not cost:
            return False
        keys = (
            f"t{self.world.caller.tenant_id}/{QUEUE}",
            f"t{self.world.caller.tenant_id}/{KEY}",
            f"s/{self.licence_name}",
        )
        taken = self.run(self.world.admin.fetchval(_TAKEN, _KINDS[kind], *keys))
        kept = any(
            COSTS[kind](model.jobs[number]) > 1
            for model in self.models
            for number in model.claimable()
        )
        return bool(taken + cost > self.limits[kind] or kept)

    @invariant()
    def limits_are_kept(self) -> None:
        """Never more than the most that were ever there."""
        for kind, cost in COSTS.items():
            taken = sum(cost(job) for which in BATCHES for job in self.passed(which))
            assert taken <= self.limits_max.get(kind, 0)

    @invariant()
    def dates_are_kept(self) -> None:
        for which, model in enumerate(self.models):
            for _rank, number in self.offered(which):
                job = model.jobs[number]
                assert not job.is_shut
                assert not (job.is_dated and model.job_date)
