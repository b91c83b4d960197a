"""Conditions on many connections at once: block, test, release, cancel, give up."""

import asyncio
import random
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from properties.test_concurrency import deadlock_report, deadlocks
from store.test_conditions import conditions
from store.world import Worker, World, open_backend, open_world
from weft.core import errors
from weft.core.attempt_key import AttemptKey
from weft.core.conditions import Ask
from weft.core.states import Reason
from weft.ports.store import Claimed, NewGroup
from weft.testing.builders import end_report, job_rows

N_JOBS = 50
ASKS = [Ask("custom", "tcp", {"host": f"h{number}", "port": "1"}) for number in range(3)]
GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=0, name="b", cancel_after_n_failures=15),
]
SWEEPS = ("release_conditions", "fail_conditions", "sweep_cancelled", "settle_children",
          "pass_gates")  # fmt: skip


class Crowd:
    """Everybody works until every job has ended."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(seed)  # noqa: S311 (guards nothing)
        self.batch = 0
        self.cancelled: set[int] = set()
        """Jobs of which a person was told that they are cancelled."""
        self.finished = asyncio.Event()

    async def work(self, name: str) -> None:
        worker = await self.world.worker(name)
        while not self.finished.is_set():
            claimed = await worker.claim(self.chance.randint(1, 8))
            assert not {one.job_id for one in claimed} & self.cancelled
            if claimed:
                await self.end(worker, claimed)
            await asyncio.sleep(0)

    async def end(self, worker: Worker, claimed: list[Claimed]) -> None:
        """End them in one report, some blocked on what they ask for."""
        stopped = {*(await worker.beat(*claimed)).to_stop}
        reports = []
        for one in claimed:
            key = AttemptKey(one.batch_id, one.job_id, one.attempt)
            if (one.batch_id, one.job_id, one.attempt) in stopped:
                reports.append(end_report(one, Reason.CANCELLED))
            elif self.chance.random() < 0.4:
                assert await worker.store.ask_block(worker.id, key, self.chance.choice(ASKS))
                reports.append(end_report(one, Reason.EXIT, exit_code=75))
            else:
                reason = self.chance.choice([None, None, Reason.EXIT, Reason.LOST])
                reports.append(end_report(one, reason))
        assert set(await worker.store.complete_attempts(worker.id, reports)) == {"ok"}

    async def test(self) -> None:
        """Test what is due, as the driver does: ten minutes pass each time."""
        world, connection = self.world, await self.world.connect()
        at = datetime.now(UTC)
        while not self.finished.is_set():
            at, epoch = at + timedelta(minutes=10), await world.lead()
            due = await connection.fetch(
                "SELECT condition_id FROM weft.due_conditions($1, '{}', 10, $2)", epoch, at
            )
            for (one,) in due:
                passed = self.chance.random() < 0.6
                if not passed:
                    await connection.execute(
                        "SELECT weft.postpone_conditions($1, $2, 5, $3)", epoch, [one], at
                    )
                await connection.execute(
                    "SELECT weft.record_tests($1, $2, $3, $4, $5)",
                    epoch, [one], [passed], [""], at,
                )  # fmt: skip
            await connection.execute("SELECT weft.release_blocked($1, 5, $2)", epoch, at)
            await asyncio.sleep(0)

    async def sweep(self, function: str) -> None:
        while not self.finished.is_set():
            await self.world.driver.sweep(function, await self.world.lead(), limit_jobs=3)
            await asyncio.sleep(0)

    async def decide(self) -> None:
        """Be a person who looks at conditions and cannot wait."""
        api, caller = self.world.api, self.world.caller
        for turn in range(15):
            for one in await conditions(self.world):
                assert one["n_jobs"] >= 0
                number = one["condition_id"]
                with suppress(errors.ConditionNotFound):
                    if turn % 7 == 6:
                        await api.fail_condition(caller, number)
                    elif turn % 2:
                        await api.release_condition(caller, number, 2)
                    else:
                        await api.test_condition(caller, number)
            await asyncio.sleep(0)

    async def cancel(self) -> None:
        api, caller = self.world.api, self.world.caller
        for _ in range(12):
            with suppress(errors.JobEnded):
                number = self.chance.randint(1, N_JOBS)
                answer = await api.cancel_jobs(caller, self.batch, [number])
                self.cancelled |= {job for job, word in answer.items() if word == "cancelled"}
            await asyncio.sleep(0)
        await api.cancel_group(caller, self.batch, 1, force=False)

    async def watch(self) -> None:
        while not self.finished.is_set():
            await self.world.fold()
            document = await self.world.api.get_batch(self.world.caller, self.batch)
            assert min(v for k, v in document.items() if k.startswith("n_")) >= 0
            if document["complete"]:
                self.finished.set()

    async def run(self) -> None:
        """Do all of it at once."""
        chance = self.chance
        rows = job_rows(
            N_JOBS, max_attempts=2, retry_on=[Reason.EXIT],
            parents={j: chance.sample(range(1, j), k=chance.randrange(2))
                     for j in range(2, N_JOBS + 1)},
            group=[-chance.choice([0, 0, 1, 2]) for _ in range(N_JOBS)],
        )  # fmt: skip
        self.batch = await self.world.submit(rows, groups=GROUPS, max_running=40)
        calls: list[Coroutine[Any, Any, None]] = [self.work(f"w{number}") for number in range(3)]
        calls += [self.sweep(function) for function in SWEEPS]
        calls += [self.test(), self.decide(), self.cancel(), self.watch()]
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(call)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(2))
async def test_no_job_is_lost_or_in_two_places(database: dict[str, str], seed: int) -> None:
    """And none runs of which a person was told that it is cancelled."""
    async with open_backend(database) as backend, open_world(backend) as world:
        await world.lead()
        crowd = Crowd(world, seed)
        async with asyncio.timeout(100):
            await crowd.run()
        states = await world.states(crowd.batch)
        left = await world.admin.fetchval("SELECT count(*) FROM weft.blocked_job")

        assert not set(states) - set("sfec")
        assert {states[number - 1] for number in crowd.cancelled} <= {"c"}
        assert left == 0
        assert await deadlocks(world) == 0, await deadlock_report(world)
