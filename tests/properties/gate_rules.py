"""Limits, dates and lanes, as rules of the machine that calls the core and its model."""

from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from properties.hold_rules import BATCHES
from properties.jobs_model import RUN, Batch, R
from store.gate_rows import change_limit, licence, limit_empty
from store.test_gates import places
from store.world import Worker, World
from weft.core.queues import Queue
from weft.ports.store import Claimed, Shape

WORKERS = (0, 1)
QUEUED = 2
"""The lane of jobs that wait in a queue with a limit, which all batches share."""
SHAPES = [Shape(), Shape(words=(("region", "eu"),)), Shape(words=(("queue", "narrow"),))]
"""Of the jobs of lane 0, 1 and 2."""
LANES = ({0, 1, QUEUED}, {0, QUEUED})
"""By worker: the lanes that it serves, and the region that it offers for that."""
REGIONS = ("eu", "us")


class Gates(NamedTuple):
    """What the jobs of a batch must pass."""

    limit: int | None
    """max_running; None: there is no such gate."""
    dated: bool


LIMITS = st.sampled_from([1, 2, 5])
GATES = st.builds(
    Gates, st.sampled_from([None, None, 1, 5, 5]), st.sampled_from([False, False, False, True])
)
Result = TypeVar("Result")


class GateRules(RuleBasedStateMachine):
    """Change limits, open gates, claim what passed; places are read from the database.

    Which of several equal jobs has a place is left to the core. How many have one, which come
    first and what a claim takes is not.
    """

    world: World
    models: list[Batch]
    ids: list[int]
    workers: list[Worker]
    held: dict[tuple[int, int], tuple[int, Claimed]]

    def __init__(self) -> None:
        super().__init__()
        self.began_at = datetime.now(UTC)
        """The clock of the driver stands still, so that no place is unclaimed for long."""
        self.opens_at = self.began_at + timedelta(hours=1)
        self.queue_limit = self.queue_limit_max = 0

    def run(self, call: Coroutine[Any, Any, Result]) -> Result:
        raise NotImplementedError

    def park(self, limit: int, steps: int) -> None:
        raise NotImplementedError

    def sweep(self, limit: int) -> None:
        raise NotImplementedError

    def shut(self, which: int, gates: Gates) -> None:
        """Put an empty batch behind its gates."""
        model, batch = self.models[which], self.ids[which]
        model.limit = gates.limit
        model.has_date = model.dated = gates.dated
        if gates.limit is not None:
            self.run(limit_empty(self.world, batch, gates.limit))
        if model.dated:
            self.run(licence(self.world, None, batch, opens_at=self.opens_at))

    @precondition(lambda self: any(model.limit is not None for model in self.models))
    @rule(choice=st.sampled_from(BATCHES), limits=st.lists(LIMITS, min_size=1, max_size=4))
    def limit(self, choice: int, limits: list[int]) -> None:
        """Raise or lower the limit of a batch, some times."""
        limited = [which for which in BATCHES if self.models[which].limit is not None]
        which = limited[choice % len(limited)]
        for limit in limits:
            self.models[which].limit = limit
            self.run(change_limit(self.world.admin, self.ids[which], limit))
            self._visit(self.began_at)
            self.gates_are_kept()

    @rule(limit=st.sampled_from([1, 2, 5]))
    def limit_queue(self, limit: int) -> None:
        """Raise or lower the limit of the queue; nobody is sent back."""
        self.save_queue(limit)

    def save_queue(self, limit: int) -> None:
        """Make the queue with this limit."""
        queue = Queue(name="narrow", priority=1, pools=(self.world.pool,), max_running=limit)
        self.run(self.world.api.save_queues(self.world.caller, [queue]))
        self.queue_limit, self.queue_limit_max = limit, max(self.queue_limit_max, limit)

    def _queued(self, *, passed: bool) -> int:
        """Return how many jobs of the queue run or may be claimed; not `passed`: that wait for
        nothing else than the queue.
        """
        count = 0
        for which, model in enumerate(self.models):
            admitted = self._admitted(which)
            if passed:
                count += sum(
                    job.lane == QUEUED and (job.state == RUN or number in admitted)
                    for number, job in model.jobs.items()
                )
            elif not model.gated:
                ready = {n for n in model.claimable() if model.jobs[n].lane == QUEUED}
                count += len(ready - admitted)
        return count

    @precondition(lambda self: any(model.dated for model in self.models))
    @rule()
    def open_gates(self) -> None:
        """Let the date come."""
        if any(model.dated for model in self.models):
            self._visit(self.opens_at)
        for model in self.models:
            model.dated = False

    def _visit(self, at: datetime, limit: int = 100) -> int:
        (row,) = self.run(
            self.world.call(
                "pass_gates", epoch=self.run(self.world.lead()), limit_jobs=limit, at=at
            )
        )
        return int(row["pass_gates"])

    @rule(limit=st.sampled_from([1, 3, 100]), steps=st.sampled_from([1, 2]))
    def pass_gates(self, limit: int, steps: int) -> None:
        """Let the driver visit the gates, to the end or not."""
        for _ in range(steps):
            self._visit(self.began_at, limit)

    @rule()
    def settle_gates(self) -> None:
        """Let the driver do all its work: then each free place is taken, by who comes first."""
        self.park(1000, 1000)
        self.sweep(1000)
        while self._visit(self.began_at):
            pass
        assert self._queued(passed=True) >= self.queue_limit or not self._queued(passed=False)
        for which, model in enumerate(self.models):
            queued = any(model.jobs[number].lane == QUEUED for number in model.claimable())
            if model.gated and not queued:
                ready = [model.jobs[number].priority for number in model.claimable()]
                admitted = [model.jobs[number].priority for number in self._admitted(which)]
                running = sum(job.state == RUN for job in model.jobs.values())
                room = len(ready) if model.limit is None else max(model.limit - running, 0)
                assert sorted(admitted, reverse=True) == ready[: 0 if model.dated else room]

    def _admitted(self, which: int) -> set[int]:
        """Return the jobs that have passed their gates and do not run."""
        having = set(self.run(places(self.world, self.ids[which])))
        return {number for number in having if self.models[which].jobs[number].state != RUN}

    @invariant()
    def gates_are_kept(self) -> None:
        assert self._queued(passed=True) <= self.queue_limit_max
        for which, model in enumerate(self.models):
            admitted = self._admitted(which)
            if not model.gated:
                assert {model.jobs[number].lane for number in admitted} <= {QUEUED}
            else:
                running = sum(job.state == RUN for job in model.jobs.values())
                assert {model.jobs[number].state for number in admitted} <= {R}
                assert not (model.dated and admitted)
                assert (
                    model.limit is None or not admitted or len(admitted) + running <= model.limit
                )

    # ------------------------------------------------------------------ claims

    def offers(self, owner: int) -> list[tuple[int, int]]:
        """Return priority and batch of all that a worker may claim now, in order."""
        found = []
        for which, model in enumerate(self.models):
            admitted = self._admitted(which)
            if not model.gated:
                admitted |= {n for n, job in model.jobs.items() if job.lane != QUEUED}
            found += [
                (-model.jobs[number].priority, self.ids[which])
                for number in model.claimable(LANES[owner])
                if number in admitted
            ]
        return sorted(found)

    @rule(owner=st.sampled_from(WORKERS), limit=st.integers(1, 6))
    def claim(self, owner: int, limit: int) -> None:
        offers = self.offers(owner)
        self.note_claim(owner, self.run(self.workers[owner].claim(limit)), offers[:limit])

    def note_claim(
        self, owner: int, claimed: Sequence[Claimed], expected: Sequence[tuple[int, int]] | None
    ) -> None:
        """Check and note what a claim took. Not `expected`: ends of the same call freed places."""
        taken = []
        for one in claimed:
            which = self.ids.index(one.batch_id)
            model = self.models[which]
            assert one.job_id in model.claimable(LANES[owner])
            taken.append((-model.jobs[one.job_id].priority, one.batch_id))
            model.claim(one.job_id, owner)
            assert one.attempt == model.jobs[one.job_id].attempt
            self.held[which, one.job_id] = (owner, one)
        assert expected is None or taken == expected
        if not self.offers(owner):
            assert self.run(self.workers[owner].waits())
