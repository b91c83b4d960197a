"""What it costs to test many conditions at once, and whether the tests keep their dates.

A worker blocks each job on something else, in a few seconds. The driver in this process has them
tested by the tester `tcp` in its own process, as it always does; nobody answers, so they stay. One
window is measured from the first due date on. There is nothing to compare it with.
"""

import asyncio
import time
from typing import Any

import asyncpg

from benches.blocking import SET, block_some
from benches.process_trees import cpu_s_of_tree
from benches.roles import driving
from weft.bench.figures import Headline, conditions_of, document_of, load_average, percentile
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, throwaway_home
from weft.bench.turns import audit_findings, register
from weft.core.ends.conditions import Tested
from weft.core.ends.retry_policy import STEPS
from weft.driver.loops.conditions import ConditionTester
from weft.ports.store import DueCondition
from weft.run.isolated.asking.messages import ConditionTests
from weft.settings import Settings
from weft.store import PostgresWorkerStore, open_worker_store

JOBS = 10_000
WINDOW_S = 60.0
COMING_S = 10.0
"""The time in which all come: as long as the first of them waits."""
SETS = 50
START_S = 2.0
"""What the tester takes to start, and a busy machine to end the last test."""
FIRST_S = STEPS[0]["wait_s"]
HERE = "127.0.0.0/8"
"""Where nobody answers, at once: this measures us, and no network."""


class _Watched:
    """Makes the tests, and notes when."""

    def __init__(self, tests: ConditionTests) -> None:
        self._tests = tests
        self.late_s: list[float] = []
        self.answered_s: list[float] = []

    async def test(self, one: DueCondition) -> Tested | None:
        """Have it tested."""
        begun = time.monotonic()
        tested = await self._tests.test(one)
        self.late_s.append(one.late_s)
        self.answered_s.append(one.late_s + time.monotonic() - begun)
        return tested


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return how late tests are, and what driver and tester use of a core."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    window_s = WINDOW_S * plan.scale
    progress.begin(5)
    tests = ConditionTests(Settings(tester_private_hosts=HERE))
    watched = _Watched(tests)
    with throwaway_home(plan.directory) as home:
        progress.step("start")
        async with running_database(home) as (logins, token):
            filler = Filler(logins["weft_api"], token)
            async with filler, open_worker_store(logins["weft_worker"]) as store:
                await filler.fill(jobs)
                await tidy(logins["admin"])
                async with driving(logins["weft_driver"], ConditionTester(watched.test)):
                    progress.step(f"block {jobs:,} jobs")
                    first_at = time.monotonic() + FIRST_S
                    begun = time.monotonic()
                    await _block(store, logins["admin"], jobs, COMING_S * min(1, plan.scale))
                    # All come due in it once, also the last, and the tester needs a moment.
                    window_s = max(window_s, time.monotonic() - begun + START_S)
                    progress.step("wait for the first date")
                    await asyncio.sleep(max(0, first_at - time.monotonic()))
                    progress.step(f"watch for {window_s:.0f} s")
                    cores = await _use_in(tests, window_s)
                await tests.close()
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"jobs": jobs}
            )
    if not watched.late_s:
        raise BenchFailed("nothing was tested")
    figures = {
        "tests": len(watched.late_s),
        "late_p99_ms": _p99_ms(watched.late_s),
        "answered_p99_ms": _p99_ms(watched.answered_s),
        "driver_cores": cores[0],
        "tester_cores": cores[1],
    }
    return document_of(
        Headline("ms, cores", figures, None, None),
        {**figures, "audit_findings": findings},
        conditions,
    )


async def _block(store: PostgresWorkerStore, dsn: str, jobs: int, within_s: float) -> None:
    """Run each job once, until it asks for something and exits; as many in each moment."""
    worker, begun, left = await register(store, "bench", cores=SET), time.monotonic(), jobs
    part = min(SET, -(-jobs // SETS))
    connection = await asyncpg.connect(dsn)
    try:
        while left and (n := await block_some(store, worker, connection, part, "ask_incidents")):
            left -= n
            await asyncio.sleep(max(0, begun + within_s * (1 - left / jobs) - time.monotonic()))
    finally:
        await connection.close()
    await store.leave(worker)
    if left:
        raise BenchFailed(f"only {jobs - left:,} of {jobs:,} jobs could be blocked")


async def _use_in(tests: ConditionTests, window_s: float) -> tuple[float, float]:
    """Return what this process, which does nothing else, and the tester use of a core."""
    used, begun = time.process_time(), time.monotonic()
    await asyncio.sleep(window_s)
    passed_s = time.monotonic() - begun
    tester_s = sum(map(cpu_s_of_tree, tests.pool.pids))  # it was started in this time
    return round((time.process_time() - used) / passed_s, 3), round(tester_s / passed_s, 3)


def _p99_ms(seconds: list[float]) -> float:
    return round(percentile(seconds, 99) * 1000, 1)
