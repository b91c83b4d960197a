"""Limits, dates and lanes, as rules of the machine that calls the core and its model."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from typing import ClassVar, NamedTuple

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from properties.drawn_jobs import Feature
from properties.hold_rules import BATCHES
from properties.jobs_model import QUEUED, REGIONAL, RUN, Job, R
from properties.rules import Rules
from properties.said_ends import LIMITS_S, MEMORY_MIB
from store.barriers import change_limit, licence, limit_empty, places
from weft.core.queues import Queue
from weft.core.scheduling.time_limits import ASK, limit_class
from weft.ports.store import Claimed, Shape

WORKERS = (0, 1)
QUEUE = "narrow"
LANES = ({0, REGIONAL, QUEUED, REGIONAL | QUEUED}, {0, QUEUED})
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
_HAS_DATES = """
    SELECT EXISTS (SELECT FROM weft.gate WHERE opens_at <= $2
        AND (batch_id IS NULL OR batch_id = ANY ($1::bigint[])))
"""
_HAS_NOTES = "SELECT EXISTS (SELECT FROM weft.gate_note)"


def shapes_of(pool: str) -> list[Shape]:
    """Return the shapes of jobs by their lane, then all of those that ask for more."""
    region, queue = (("region", "eu"),), (("pool", pool), ("queue", QUEUE))
    lanes = [Shape(), Shape(words=region), Shape(words=queue), Shape(words=(*queue, *region))]
    more = [
        Shape(memory_mib=memory, words=((ASK, str(limit_class(one))),))
        for memory in MEMORY_MIB
        for one in LIMITS_S
    ]
    return [*lanes, *more]


class GateRules(Rules):
    """Change limits, open gates, claim what passed; places are read from the database.

    Which of several equal jobs has a place is left to the core. How many have one, which come
    first and what a claim takes is not.
    """

    features: ClassVar[frozenset[Feature]]

    def __init__(self) -> None:
        super().__init__()
        self.began_at = datetime.now(UTC)
        """The clock of the driver stands still, so that no place is unclaimed for long."""
        self.opens_at = self.began_at + timedelta(hours=1)
        self.limits: dict[str, int] = {}
        """Of the gates that all batches share, by kind: how many places there are now."""
        self.limits_max: dict[str, int] = {}

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

    @rule(closed=st.sampled_from([True, True, False]))
    def close_queue(self, *, closed: bool) -> None:
        """Let the queue take none of its jobs back, or let it again; those that wait still run."""
        for model in self.models:
            model.is_closed = closed
        self.save_queue(self.limits["queue"])

    def save_queue(self, limit: int) -> None:
        """Make the queue with this limit."""
        queue = Queue(
            name=QUEUE,
            priority=1,
            pools=(self.world.pool,),
            max_running=limit,
            state="closed" if self.models[0].is_closed else "enabled",
        )
        self.run(self.world.api.save_queues(self.world.caller, [queue]))
        self.note_limit("queue", limit)

    def note_limit(self, kind: str, limit: int) -> None:
        """Note what was said last."""
        self.limits[kind] = limit
        self.limits_max[kind] = max(self.limits_max.get(kind, 0), limit)

    def passed(self, which: int) -> list[Job]:
        """Return the jobs of a batch that run, or have passed their gates."""
        admitted, jobs = self._admitted(which), self.models[which].jobs
        return [job for job in jobs.values() if job.state == RUN or job.number in admitted]

    def is_blocked(self, which: int, _job: Job) -> bool:
        """Say whether a ready job has to wait at a gate although all gates were passed."""
        model = self.models[which]
        full = model.limit is not None and len(self.passed(which)) >= model.limit
        return full or model.dated

    @rule()
    def open_gates(self) -> None:
        """Let all dates come."""
        if self.run(self.world.admin.fetchval(_HAS_DATES, self.ids, self.opens_at)):
            self._visit(self.opens_at)
        for model in self.models:
            model.dated = False
            model.job_date = model.job_date and False
            for job in model.jobs.values():
                job.is_shut = False

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
        while self._visit(self.began_at) or self.run(self.world.admin.fetchval(_HAS_NOTES)):
            pass
        for which, model in enumerate(self.models):
            offered = {number for _, number in self.offered(which)}
            waiting = [model.jobs[number] for number in model.claimable()]
            for job in waiting:
                assert job.number in offered or self.is_blocked(which, job), job
            if model.gated and not any(job.has_gates for job in waiting):
                ready = [job.priority for job in waiting]
                admitted = [model.jobs[number].priority for number in self._admitted(which)]
                running = sum(job.state == RUN for job in model.jobs.values())
                room = len(ready) if model.limit is None else max(model.limit - running, 0)
                assert sorted(admitted, reverse=True) == ready[: 0 if model.dated else room]

    def _admitted(self, which: int) -> set[int]:
        """Return the jobs that have passed their gates and do not run."""
        if Feature.GATES not in self.features:
            return set()
        having = set(self.run(places(self.world, self.ids[which])))
        return {number for number in having if self.models[which].jobs[number].state != RUN}

    @invariant()
    def gates_are_kept(self) -> None:
        for which, model in enumerate(self.models):
            admitted = [model.jobs[number] for number in self._admitted(which)]
            assert {job.state for job in admitted} <= {R}
            if not model.gated:
                assert all(job.has_gates for job in admitted)
            else:
                running = sum(job.state == RUN for job in model.jobs.values())
                assert not (model.dated and admitted)
                assert (
                    model.limit is None or not admitted or len(admitted) + running <= model.limit
                )

    # ------------------------------------------------------------------ claims

    def offered(self, which: int, lanes: Collection[int] = (0, 1, 2, 3)) -> list[tuple[int, int]]:
        """Return priority and number of all jobs of a batch that may be claimed, in order."""
        model, admitted = self.models[which], self._admitted(which)
        if not model.gated:
            admitted |= {number for number, job in model.jobs.items() if not job.has_gates}
        return [
            (-model.jobs[number].priority, number)
            for number in model.claimable(lanes)
            if number in admitted
        ]

    def offers(self, owner: int) -> list[tuple[int, int]]:
        """Return priority and batch of all that a worker may claim now, in order."""
        return sorted(
            (rank, self.ids[which])
            for which in BATCHES
            for rank, _number in self.offered(which, LANES[owner])
        )

    @rule(owner=st.sampled_from(WORKERS), limit=st.integers(1, 6))
    def claim(self, owner: int, limit: int) -> None:
        offers = self.offers(owner)
        self.note_claim(owner, self.run(self.workers[owner].claim(limit)), offers[:limit])

    def note_given(self) -> None:
        """Note what a submission has claimed for workers that sleep."""
        for owner in WORKERS:
            self.note_claim(owner, self.run(self.workers[owner].given()), None)

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
            assert one.memory_mib == model.jobs[one.job_id].memory_mib
            self.held[which, one.job_id] = (owner, one)
        assert expected is None or taken == expected
        if not self.offers(owner):
            assert self.run(self.workers[owner].waits())
