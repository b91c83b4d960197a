"""How fast jobs go on when what they wait for is there again.

A worker blocks all jobs on one condition. A driver in this process tests it, by a function that
says when it was asked; for a while it is asked nothing, and the calls of the driver are counted.
Then the test passes: a worker takes the first job as soon as it may, and the others go on as the
slow start lets them, until none is blocked. There is nothing to compare it with.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import asyncpg

from benches.blocking import SET, block_some
from benches.queries import query
from benches.roles import claim_of, driving
from weft.bench.figures import Headline, conditions_of, document_of, load_average
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, throwaway_home
from weft.bench.turns import audit_findings, register
from weft.core.ends.conditions import Tested
from weft.driver.loops.conditions import ConditionTester
from weft.ports.store import Claimed, DueCondition
from weft.store import PostgresWorkerStore, open_worker_store
from weft.telemetry import metrics

JOBS = 100_000
QUIET_S = 4.0
"""How long the driver is left alone with blocked jobs; no test is due in that time."""
LOOK_S = 0.02
LONGEST_S = 300.0
HEARTBEAT = "beat_driver"
SWEEP = "release_conditions"


class _Service:
    """What the jobs wait for."""

    def __init__(self) -> None:
        self.is_there = False
        self.passed_at: list[float] = []

    async def test(self, one: DueCondition) -> Tested:  # noqa: ARG002 (there is one)
        """Say whether it is there."""
        if self.is_there:
            self.passed_at.append(time.monotonic())
        return Tested(passed=self.is_there, message="it is there" if self.is_there else "no")


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the rate of the release, the milliseconds to the first job, and the tests."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    progress.begin(5)
    with throwaway_home(plan.directory) as home:
        progress.step("start")
        async with running_database(home) as (logins, token):
            filler, service = Filler(logins["weft_api"], token), _Service()
            async with filler, open_worker_store(logins["weft_worker"]) as store:
                progress.step(f"block {jobs:,} jobs")
                await filler.fill(jobs)
                worker = await register(store, "bench", cores=SET)
                await _block(store, worker, logins["admin"], jobs)
                await tidy(logins["admin"])
                await store.leave(worker)  # it may have been silent for too long
                worker = await register(store, "bench", cores=SET)
                async with driving(logins["weft_driver"], ConditionTester(service.test)):
                    progress.step("leave them alone")
                    await _test_once(filler, service)
                    calls = await _calls_in(min(QUIET_S, QUIET_S * plan.scale))
                    progress.step("let them go on")
                    service.is_there = True
                    before_s = sum(_store_calls("sum", SWEEP))
                    first_ms, release_s = await _release(filler, service, store, worker)
                    sweep_s = sum(_store_calls("sum", SWEEP)) - before_s
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"jobs": jobs}
            )
    figures = {
        "release_per_s": round(jobs / release_s),
        "sweep_per_s": round(jobs / sweep_s),
        "first_ms": round(first_ms, 1),
        "tests": len(service.passed_at),
        "idle_calls": calls,
    }
    return document_of(
        Headline("jobs/s, ms", figures, None, None),
        {**figures, "audit_findings": findings},
        conditions,
    )


async def _block(store: PostgresWorkerStore, worker: int, dsn: str, jobs: int) -> None:
    """Run each job once, until it asks for the service and exits; then none is due for long."""
    connection, left = await asyncpg.connect(dsn), jobs
    try:
        while left and (n := await block_some(store, worker, connection, SET, "ask_blocks")):
            left -= n
        await connection.execute(query("wait_long"))
    finally:
        await connection.close()
    if left:
        raise BenchFailed(f"only {jobs - left:,} of {jobs:,} jobs could be blocked")


async def _condition(filler: Filler) -> Mapping[str, Any] | None:
    """Return the condition, as a person sees it; None: it is over."""
    store, caller = filler.opened
    return next(iter(await store.list_conditions(caller, after_id=0, limit=1)), None)


async def _until(filler: Filler, is_so: Callable[[Mapping[str, Any]], bool]) -> None:
    """Look at the condition until something is so, or it is over."""
    while True:
        found = await _condition(filler)
        if found is None or is_so(found):
            return
        await asyncio.sleep(LOOK_S)


async def _test_once(filler: Filler, service: _Service) -> None:
    """Let a test fail, so that the next one is not due for a while, and the sums are folded."""
    store, caller = filler.opened
    async with asyncio.timeout(LONGEST_S):
        found = await _condition(filler)
        assert found is not None
        await store.test_condition(caller, found["condition_id"])
        await _until(filler, lambda found: found["tested_at"] is not None)
        await asyncio.sleep(1)  # and all else that the driver has to do
    assert not service.passed_at


async def _calls_in(window_s: float) -> int:
    """Return how many functions the driver calls in this time, heartbeats excepted."""
    before = _n_calls()
    await asyncio.sleep(window_s)
    return _n_calls() - before


def _n_calls() -> int:
    return round(sum(_store_calls("count")) - sum(_store_calls("count", HEARTBEAT)))


def _store_calls(what: str, function: str | None = None) -> Sequence[float]:
    """Return `count` or `sum` of the seconds of each function that was called, or of one."""
    (family,) = metrics.STORE_CALL_SECONDS.collect()
    return [
        one.value
        for one in family.samples
        if one.name.endswith(f"_{what}") and function in {None, one.labels["function"]}
    ]


async def _release(
    filler: Filler, service: _Service, store: PostgresWorkerStore, worker: int
) -> tuple[float, float]:
    """Return how long after the test the first job was there, and the last one."""
    api, caller = filler.opened
    found = await _condition(filler)
    assert found is not None
    await api.test_condition(caller, found["condition_id"])
    async with asyncio.timeout(LONGEST_S):
        claimed: Sequence[Claimed] = ()
        while not claimed:
            claimed = await store.claim_jobs(worker, claim_of(1))
        first_at = time.monotonic()
        await _until(filler, lambda found: not found["n_jobs"])
    begun = service.passed_at[0]
    return (first_at - begun) * 1000, time.monotonic() - begun
