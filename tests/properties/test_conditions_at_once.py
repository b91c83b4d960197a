"""Conditions and retries on many connections at once: block, test, release, give up, retry,
cancel, signal.
"""

import asyncio
import random
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import end_report, job_rows
from properties.test_concurrency import deadlock_report, deadlocks
from store.backend import open_backend
from store.test_conditions import conditions, operator
from store.world import Worker, World, open_world
from weft.core import errors
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft.driver.operations import advance_operation
from weft.ports.store import UNKEYED, Claimed, NewGroup

N_JOBS = 50
ASKS = [Ask("custom", "tcp", {"host": f"h{number}", "port": "1"}) for number in range(3)]
GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=0, name="b", cancel_after_n_failures=15),
]
_MISPLACED = """
    SELECT job_id FROM (SELECT job_id FROM weft.job WHERE batch_id = $1 AND state = 5) j
    FULL JOIN (SELECT job_id FROM weft.blocked_job WHERE batch_id = $1) k USING (job_id)
    WHERE j.* IS NULL OR k.* IS NULL
"""
"""Jobs that are blocked and do not wait, or the other way round; there is no moment for that."""
_SIGNALS = """
    SELECT (SELECT count(*) FROM weft.job_change WHERE batch_id = $1 AND subtype = 'signal')
        + (SELECT count(*) FROM weft.job_command WHERE batch_id = $1)
"""
SWEEPS = (
    "release_conditions",
    "fail_conditions",
    "sweep_cancelled",
    "settle_children",
    "pass_gates",
)


class Crowd:
    """Everybody works until every job has ended."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.chance = random.Random(seed)  # noqa: S311 (guards nothing)
        self.batch = 0
        self.cancelled: set[int] = set()
        """Jobs of which a person was told that they are cancelled."""
        self.live: set[int] = set()
        """Jobs that some worker has."""
        self.ends: dict[tuple[int, int], int | None] = {}
        """What workers said of attempts, by job and attempt."""
        self.n_signals = 0
        self.n_retried = 0
        self.retried = asyncio.Event()
        self.finished = asyncio.Event()

    async def work(self, name: str) -> None:
        worker = await self.world.worker(name)
        while not self.finished.is_set():
            claimed = await worker.claim(self.chance.randint(1, 8))
            numbers = {one.job_id for one in claimed}
            assert not numbers & self.cancelled
            assert not numbers & self.live
            assert len(numbers) == len(claimed)
            self.live |= numbers
            if claimed:
                await worker.start(*claimed[::2])
                await self.hear(worker, claimed)
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
        for report in reports:
            assert (report.job_id, report.attempt) not in self.ends
            self.ends[report.job_id, report.attempt] = report.reason
            self.live.discard(report.job_id)
        assert set(await worker.store.complete_attempts(worker.id, reports)) == {"ok"}

    async def hear(self, worker: Worker, claimed: list[Claimed]) -> None:
        """Ask for commands, and say that they were obeyed."""
        keys = [(one.batch_id, one.job_id, one.attempt) for one in claimed]
        found, _ = await worker.store.list_commands(worker.id, keys)
        await worker.store.acknowledge_commands(
            worker.id, [(one.number, one.key, "") for one in found]
        )

    async def signal(self) -> None:
        api, caller = self.world.api, self.world.caller
        while not self.finished.is_set():
            with suppress(errors.JobNotRunning):
                number = self.chance.randint(1, N_JOBS)
                await api.signal_job(caller, self.batch, number, signal=10, word="USR1")
                self.n_signals += 1
            await asyncio.sleep(0)

    async def retry(self) -> None:
        """Run all that failed again, also while it is being retried."""
        api, caller = self.world.api, self.world.caller
        for _ in range(8):
            while True:
                document = await api.get_batch(caller, self.batch)
                if document["n_failed"] or document["complete"]:
                    break
            operation = await api.retry_jobs(caller, self.batch, UNKEYED)
            while True:
                epoch = await self.world.lead()
                for one in await self.world.driver.running_operations(epoch):
                    await advance_operation(self.world.driver, epoch, one)
                found = await api.get_operation(caller, operation)
                if found["state"] != "running":
                    break
            self.n_retried += found["result"]["n_retried"]
        self.retried.set()

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
                        "SELECT weft.postpone_conditions($1, $2, 5, 0, $3)", epoch, [one], at
                    )
                await connection.execute(
                    "SELECT weft.record_tests($1, $2, $3, $4, $5)",
                    epoch,
                    [one],
                    [passed],
                    [""],
                    at,
                )
            await connection.execute("SELECT weft.release_blocked($1, 5, $2)", epoch, at)
            await asyncio.sleep(0)

    async def sweep(self, function: str) -> None:
        while not self.finished.is_set():
            await self.world.driver.sweep(function, await self.world.lead(), limit_jobs=3)
            await asyncio.sleep(0)

    async def decide(self) -> None:
        """Be a person who looks at conditions and cannot wait."""
        api, caller = self.world.api, operator(self.world)
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
        connection = await self.world.connect()
        while not self.finished.is_set():
            await self.world.fold()
            document = await self.world.api.get_batch(self.world.caller, self.batch)
            assert min(v for k, v in document.items() if k.startswith("n_")) >= 0
            misplaced = await connection.fetch(_MISPLACED, self.batch)
            assert misplaced == []
            if document["complete"] and self.retried.is_set():
                self.finished.set()

    async def run(self) -> None:
        """Do all of it at once."""
        chance = self.chance
        rows = job_rows(
            N_JOBS,
            max_attempts=2,
            retry_on=[Reason.EXIT],
            parents={
                j: chance.sample(range(1, j), k=chance.randrange(2)) for j in range(2, N_JOBS + 1)
            },
            group=[-chance.choice([0, 0, 1, 2]) for _ in range(N_JOBS)],
        )
        self.batch = await self.world.submit(rows, groups=GROUPS, max_running=40)
        calls: list[Coroutine[Any, Any, None]] = [self.work(f"w{number}") for number in range(3)]
        calls += [self.sweep(function) for function in SWEEPS]
        calls += [self.test(), self.decide(), self.cancel(), self.watch(), self.retry()]
        calls += [self.signal()]
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(call)


@pytest.mark.slow
@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(2))
async def test_no_job_is_lost_or_in_two_places(database: dict[str, str], seed: int) -> None:
    """And none runs of which a person was told that it is cancelled, none at two workers, and none
    again after its success. What workers and persons saw is what is recorded.
    """
    async with open_backend(database) as backend, open_world(backend) as world:
        await world.lead()
        crowd = Crowd(world, seed)
        async with asyncio.timeout(100):
            await crowd.run()
        states = await world.states(crowd.batch)
        left = await world.admin.fetchval("SELECT count(*) FROM weft.blocked_job")

        attempts = await world.admin.fetch(
            "SELECT job_id, attempt FROM weft.attempt WHERE batch_id = $1", crowd.batch
        )

        assert not set(states) - set("sfec")
        assert {(row["job_id"], row["attempt"]) for row in attempts} == crowd.ends.keys()
        for number, state in enumerate(states, 1):
            numbers = sorted(attempt for job, attempt in crowd.ends if job == number)
            assert numbers == list(range(1, len(numbers) + 1))
            successes = [one for one in numbers if crowd.ends[number, one] is None]
            assert successes == (numbers[-1:] if state == "s" else [])
        assert crowd.n_retried > 0
        assert await world.admin.fetchval(_SIGNALS, crowd.batch) == crowd.n_signals > 0
        assert {states[number - 1] for number in crowd.cancelled} <= {"c"}
        assert left == 0
        assert await deadlocks(world) == 0, await deadlock_report(world)
