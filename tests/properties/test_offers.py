"""Jobs of a queue that travels beside a model of them: offered, claimed by messages old and new,
held, cancelled, edited, moved and limited in any order.

Fair shares are left to `store/test_fair_offers.py`: there is one user. Which ready jobs have a
place at the gate is read from the database.
"""

import asyncio
import os
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from builders import job_rows
from store.backend import Backend, open_backend
from store.barriers import change_limit, park, places, visit
from store.test_moves import move
from store.test_priorities import prioritize_job
from store.test_transports import MESSAGE, Rabbit, claims, open_rabbit
from store.world import Worker, World, open_world
from weft.core.states import Reason
from weft.ports.store import Claimed

EXAMPLES = int(os.environ.get("MODEL_EXAMPLES", "0"))
STEPS = 50
N_JOBS = 7
SLOTS = 3
JOB, OWNER = st.integers(1, N_JOBS), st.integers(0, 1)
READY, QUEUED, RUNNING, OVER = "r", "q", "R", "sfc"
_OFFERED = "SELECT job_id FROM weft.ready_job WHERE batch_id = $1 AND gate_set_id = 0"
RULES: Mapping[str, Mapping[str, st.SearchStrategy[Any]]] = {
    "round": {"stock": st.sampled_from([None, None, 0, 2, N_JOBS])},
    "deliver": {"choices": st.lists(st.integers(0, 99), min_size=1, max_size=4), "owner": OWNER},
    "claim": {},
    "end": {"choice": st.integers(0, 99), "fails": st.booleans()},
    "lose": {"owner": OWNER},
    "hold_batch": {"held": st.booleans()},
    "hold_job": {"number": JOB, "held": st.booleans()},
    "sweep_holds": {},
    "cancel": {"number": JOB},
    "edit": {"number": JOB, "priority": st.integers(-1, 2)},
    "reroute": {"number": JOB, "travels": st.booleans()},
    "change_limit": {"limit": st.sampled_from([1, 2, 4, N_JOBS])},
    "visit_gates": {},
    "fold": {},
}
WEIGHTS = {"round": 5, "deliver": 3, "end": 2, "change_limit": 2, "edit": 2, "reroute": 2}
"""How often each comes; others once."""
Result = TypeVar("Result")


@dataclass
class Job:
    """One job of the batch."""

    state: str = READY
    travels: bool = True
    """It is in the queue that does."""
    priority: int = 0
    is_held: bool = False
    attempt: int = 0
    offer: int | None = None
    """The message of the offer that became its attempt, or that waits."""


class Offers(RuleBasedStateMachine):
    """Calls functions of the core and does the same to the model."""

    runner: ClassVar[asyncio.Runner]
    backend: ClassVar[Backend]

    def __init__(self) -> None:
        super().__init__()
        self.stack = AsyncExitStack()
        self.world: World = self.run(self.stack.enter_async_context(open_world(self.backend)))
        self.rabbit: Rabbit = self.run(open_rabbit(self.world))
        self.workers: list[Worker] = [
            self.run(self.rabbit.consumer(name, cpu_m=SLOTS * 1000)) for name in ("w0", "w1")
        ]
        self.plain: Worker = self.run(self.world.worker("plain"))
        self.limit = N_JOBS
        rows = job_rows(N_JOBS, shapes=[self.rabbit.shape], max_attempts=9, retry_on=[Reason.EXIT])
        self.batch: int = self.run(self.world.submit(rows, max_running=N_JOBS))
        self.jobs = {number: Job() for number in range(1, N_JOBS + 1)}
        self.is_held = False
        self.messages: list[MESSAGE] = []
        """All that were ever sent."""
        self.live: dict[int, tuple[Worker, Claimed]] = {}

    def run(self, call: Coroutine[Any, Any, Result]) -> Result:
        return self.runner.run(call)

    def may_start(self, job: Job) -> bool:
        """Say whether nothing holds it."""
        return not (self.is_held or job.is_held)

    def withdraw(self, number: int) -> None:
        """Let a queued job be ready again."""
        self.jobs[number].state, self.jobs[number].offer = READY, None

    def offer_of(self, number: int) -> int:
        offer = self.jobs[number].offer
        assert offer is not None
        return offer

    def of_state(self, state: str) -> list[int]:
        return [number for number, job in self.jobs.items() if job.state == state]

    @rule(data=st.data())
    def step(self, data: st.DataObject) -> None:
        """Do one of the rules. Hypothesis itself leaves out half of them in each example."""
        names = [name for name in RULES for _ in range(WEIGHTS.get(name, 1))]
        name = data.draw(st.sampled_from(names), label="rule")
        drawn = {key: data.draw(what, label=key) for key, what in RULES[name].items()}
        getattr(self, name)(**drawn)

    def round(self, stock: int | None = None) -> None:
        """Withdraw what is held, and offer what may start, as much as there is room for; or
        withdraw the last offers for which there is none any more.
        """
        for number in self.of_state(QUEUED):
            if not self.may_start(self.jobs[number]):
                self.withdraw(number)
        rows = self.run(self.world.admin.fetch(_OFFERED, self.batch))
        able = [
            row["job_id"]
            for row in rows
            if (job := self.jobs[row["job_id"]]).travels and self.may_start(job)
        ]
        # What the look made ready again stands in the list only after it.
        found = {one.job_id: one.offer_id for one in self.run(self.rabbit.round(stock=stock))}
        busy = sum(1 for n in self.live if self.jobs[n].travels)
        slots = SLOTS * len(self.workers)
        free, waiting = max(slots - busy, 0), sorted(self.of_state(QUEUED), key=self.offer_of)
        room = free + (max(slots, len(waiting) - free) if stock is None else stock)
        for number in waiting[room:]:
            self.withdraw(number)
        assert len(found) == min(max(room - len(waiting), 0), len(able))
        assert found.keys() <= set(able)
        assert (
            sorted(self.jobs[n].priority for n in found)
            == sorted(self.jobs[n].priority for n in able)[len(able) - len(found) :]
        )
        for number, offer in found.items():
            self.jobs[number].state, self.jobs[number].offer = QUEUED, offer
            self.messages.append((self.batch, number, offer))

    def deliver(self, choices: list[int], owner: int) -> None:
        """Let messages come, the last ones or old ones, to any worker."""
        if not self.messages:
            return
        worker = self.workers[owner]
        wanted = {self.messages[-1 - choice % len(self.messages)] for choice in choices}
        expected = {}
        for message in wanted:
            job = self.jobs[message[1]]
            if message[2] != job.offer or job.state not in {QUEUED, RUNNING}:
                expected[message] = "settled"
            elif job.state == RUNNING:
                expected[message] = "elsewhere"
            else:
                expected[message] = "yours" if self.may_start(job) else "not_now"
        # As much as the worker has cores for: what does not fit is left.
        answers = self.run(self.rabbit.take(worker, sorted(wanted)))
        for one in answers:
            word = expected[one.batch_id, one.job_id, one.offer_id]
            assert one.answer == word or (one.answer, word) == ("not_now", "yours")
        taken = claims(answers)
        assert len(taken) == min(SLOTS, [*expected.values()].count("yours"))
        for claimed in taken:
            self.note_claim(worker, claimed)

    def note_claim(self, worker: Worker, claimed: Claimed) -> None:
        job = self.jobs[claimed.job_id]
        job.attempt += 1
        assert claimed.attempt == job.attempt
        job.state = RUNNING
        self.live[claimed.job_id] = worker, claimed

    def claim(self) -> None:
        """Claim from the database: only what does not travel."""
        for claimed in self.run(self.plain.claim()):
            job = self.jobs[claimed.job_id]
            assert not job.travels
            assert self.may_start(job)
            self.note_claim(self.plain, claimed)

    def end(self, choice: int, *, fails: bool) -> None:
        if not self.live:
            return
        number = sorted(self.live)[choice % len(self.live)]
        worker, claimed = self.live.pop(number)
        self.run(worker.start(claimed))
        self.run(worker.end(claimed, reason=Reason.EXIT if fails else None))
        job = self.jobs[number]
        job.offer = None
        job.state = "s" if not fails else "f" if job.attempt == 9 else READY

    def lose(self, owner: int) -> None:
        worker = self.workers[owner]
        self.run(worker.store.leave(worker.id))
        for number in [n for n, (who, _) in self.live.items() if who is worker]:
            del self.live[number]
            self.withdraw(number)
        name = f"w{owner}"
        self.workers[owner] = self.run(self.rabbit.consumer(name, cpu_m=SLOTS * 1000))

    def hold_batch(self, *, held: bool) -> None:
        api = self.world.api
        self.run((api.hold_group if held else api.release_group)(self.world.caller, self.batch, 0))
        self.is_held = held

    def hold_job(self, number: int, *, held: bool) -> None:
        api, job = self.world.api, self.jobs[number]
        self.run(
            (api.hold_jobs if held else api.release_jobs)(self.world.caller, self.batch, [number])
        )
        job.is_held = held and job.state not in OVER

    def sweep_holds(self) -> None:
        self.run(park(self.world))

    def cancel(self, number: int) -> None:
        job = self.jobs[number]
        if job.state not in {READY, QUEUED}:
            return
        self.run(self.world.api.cancel_jobs(self.world.caller, self.batch, [number]))
        job.state, job.offer = "c", None

    def edit(self, number: int, priority: int) -> None:
        job = self.jobs[number]
        if job.state in OVER:
            return
        is_new = self.run(prioritize_job(self.world, self.batch, number, priority))
        assert is_new == (priority != job.priority)
        if is_new and job.state == QUEUED:
            self.withdraw(number)
        job.priority = priority

    def reroute(self, number: int, *, travels: bool) -> None:
        job = self.jobs[number]
        is_able = job.state in {READY, QUEUED} and not job.attempt and job.travels != travels
        if travels and is_able:  # the core gives it the transport of its queue
            n_moved = self.run(move(self.world, self.batch, [number], "q"))
        elif is_able:
            n_moved = self.run(move(self.world, self.batch, [number], "plain"))
        else:
            return
        assert n_moved == 1
        self.withdraw(number)
        job.travels = travels

    def change_limit(self, limit: int) -> None:
        """Let a limit be lower or higher; the last offers are withdrawn, after ready jobs."""
        self.limit = limit
        self.run(change_limit(self.world.admin, self.batch, limit))
        self.run(visit(self.world))
        queued = sorted(self.of_state(QUEUED), key=self.offer_of)
        for number in queued[max(limit - len(self.live), 0) :]:
            self.withdraw(number)

    def visit_gates(self) -> None:
        self.run(visit(self.world))

    def fold(self) -> None:
        self.run(self.world.fold())

    @invariant()
    def states_and_offers_are_as_in_the_model(self) -> None:
        states = self.run(self.world.states(self.batch))
        assert states == "".join(job.state for job in self.jobs.values())
        rows = self.run(
            self.world.admin.fetch(
                "SELECT job_id, offer_id FROM weft.transport_offer "
                "WHERE batch_id = $1 AND attempt IS NULL",
                self.batch,
            )
        )
        found = {row["job_id"]: row["offer_id"] for row in rows}
        waiting = {n: self.jobs[n].offer for n in self.of_state(QUEUED)}
        # That of a job which was cancelled goes in the next round.
        assert {n: one for n, one in found.items() if self.jobs[n].state != "c"} == waiting
        admitted = self.run(places(self.world, self.batch))
        assert {*self.of_state(QUEUED), *self.live} <= {*admitted}

    def teardown(self) -> None:
        """Run everything to its end, then let the audit look."""
        try:
            assert self.run(self.world.findings()) == {}
            self.hold_batch(held=False)
            for number in self.jobs:
                self.hold_job(number, held=False)
            self.change_limit(N_JOBS)
            for _ in range(3):
                self.sweep_holds()
                self.visit_gates()
                self.round()
                self.claim()
                for first in range(0, len(self.messages), SLOTS):
                    for message in self.messages[first : first + SLOTS]:
                        self.deliver([-1 - self.messages.index(message)], 0)
                while self.live:
                    self.end(0, fails=False)
            assert not {job.state for job in self.jobs.values()} - {*OVER}
            self.round()
            assert self.run(self.rabbit.offers(self.batch)) == 0
        finally:
            self.run(self.stack.aclose())


@pytest.fixture
def machine(database: dict[str, str]) -> Iterator[type[Offers]]:
    """Give a machine on a database of its own."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        backend = runner.run(stack.enter_async_context(open_backend(database)))
        yield type("Machine", (Offers,), {"runner": runner, "backend": backend})
        runner.run(stack.aclose())


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_offers_are_as_in_their_model(machine: type[Offers]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES or 8,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=not EXAMPLES,
            database=None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink) if EXAMPLES else (Phase.generate,),
        ),
    )
