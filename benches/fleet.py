"""Whether 1,000 workers on one database are served: their heartbeats, and jobs that come for them.

The workers are tasks of this process that speak the protocol of a worker through its store: they
register, sleep until a notice, claim, hold a job for a second, report its end with the next claim,
and send heartbeats. They share connections, and one that listens. First they only live, then jobs
come at a steady rate. `dispatch_ms` is from the commit of jobs to the answer to the claim that got
them; the reference is 250 ms, `ratio` that divided by the 99th percentile.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from benches.fleet_worker import FleetWorker, Seen
from benches.process_trees import cpu_s_of_tree
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    ratio_of,
)
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import audit_findings
from weft.ports.store import Notices, WorkerStore
from weft.run.home import Home
from weft.settings import load_settings
from weft.store import open_worker_store

WORKERS: Final = 1000
STORES: Final = 4
"""Each with a few connections, shared by its part of the workers."""
IDLE_S: Final = 20.0
BUSY_S: Final = 30.0
WINDOW_MIN_S: Final = 2.0
RATE: Final = 100
"""Jobs that come in a second, a tenth of what the workers could run."""
PART: Final = 20
"""Jobs of one submission."""
PATIENCE_S: Final = 120.0
GOAL_MS: Final = 250.0
GOAL_PERCENT: Final = 5.0
REGISTERED_AT_ONCE: Final = 8
LOOK_S: Final = 0.05
SETTLE_S: Final = 10.0
"""After registration: until everybody sleeps, and the server has looked for rows to vacuum."""


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the 99th percentile of dispatches, and what heartbeats cost the database."""
    load, scale = load_average(), min(plan.scale, 1.0)
    count = max(round(WORKERS * scale), 2)
    rate = max(round(RATE * scale), 1)
    idle_s, busy_s = (max(one * scale, WINDOW_MIN_S) for one in (IDLE_S, BUSY_S))
    progress.begin(6)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            async with running_fleet(logins["weft_worker"]) as fleet, filler:
                progress.step("the database alone")
                alone = await _cpu_percent(home, idle_s / 2)
                progress.step(f"register {count:,} workers")
                await fleet.start(count)
                await asyncio.sleep(min(SETTLE_S, idle_s))
                progress.step("heartbeats")
                idle = await _cpu_percent(home, idle_s)
                progress.step("jobs")
                committed = await _submit(filler, rate, busy_s)
                progress.step("the last jobs")
                await fleet.until_ended(sum(jobs for jobs, _ in committed.values()))
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            sizes = {"workers": count, "jobs_per_s": rate, "idle_s": idle_s, "busy_s": busy_s}
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes=sizes
            )
    seen = fleet.seen
    dispatch = _spread([(at - committed[batch][1]) * 1000 for batch, at in seen.claimed])
    return document_of(
        Headline("ms", dispatch["p99"], GOAL_MS, ratio_of(GOAL_MS, dispatch["p99"])),
        {
            "dispatch_ms": dispatch,
            "heartbeats": {
                "cpu_percent": round(max(idle - alone, 0.0), 2),
                "goal_percent": GOAL_PERCENT,
                "late_ms": _spread([late * 1000 for late in seen.late]),
                "lost_workers": seen.n_lost,
            },
            "claims_per_job": round(seen.n_claims / len(seen.claimed), 2),
            "audit_findings": findings,
        },
        conditions,
    )


class Fleet:
    """Workers as tasks. `listeners`: one that hears for all of them, or one for each."""

    def __init__(
        self, stores: Sequence[WorkerStore], listeners: Sequence[Notices], tasks: asyncio.TaskGroup
    ) -> None:
        self._stores = stores
        self._listeners = listeners
        self._tasks = tasks
        self.workers: Sequence[FleetWorker] = ()
        self._running: list[asyncio.Task[None]] = []
        self.seen = Seen()

    async def start(self, count: int) -> None:
        """Register workers and let them live."""
        heartbeat_s = load_settings(environ={}).heartbeat_s
        self.workers = [
            FleetWorker(self._stores[number % len(self._stores)], number, self.seen, heartbeat_s)
            for number in range(count)
        ]
        for first in range(0, count, REGISTERED_AT_ONCE):
            some = self.workers[first : first + REGISTERED_AT_ONCE]
            await asyncio.gather(*(one.register() for one in some))
        for number, listener in enumerate(self._listeners):
            those = self.workers if len(self._listeners) == 1 else [self.workers[number]]
            self._go(_listen(listener, {one.incarnation_id: one for one in those}))
        for number, one in enumerate(self.workers):
            first_s = heartbeat_s * number / count
            self._go(one.beat(first_s=first_s))
            self._go(one.work(first_s=first_s))
        await _until(lambda: self.seen.n_asleep >= count, "not all workers sleep")

    async def until_ended(self, jobs: int) -> None:
        """Wait until this number of jobs has ended."""
        await _until(lambda: self.seen.n_ended >= jobs, "not all jobs have ended")

    def stop(self) -> None:
        """End all tasks."""
        for task in self._running:
            task.cancel()

    def _go(self, work: Any) -> None:  # noqa: ANN401 (a coroutine)
        self._running.append(self._tasks.create_task(work))


async def _listen(listener: Notices, workers: Mapping[int, FleetWorker]) -> None:
    async for _, payload in listener.listen("work"):
        _, _, names = payload.partition(":")
        called = map(int, names.split(",")) if names else workers
        for incarnation_id in called:
            if incarnation_id in workers:
                workers[incarnation_id].on_work()


@asynccontextmanager
async def running_fleet(dsn: str) -> AsyncIterator[Fleet]:
    """Give a fleet that works for the database itself."""
    async with AsyncExitStack() as stack:
        stores = [await stack.enter_async_context(open_worker_store(dsn)) for _ in range(STORES)]
        async with fleet_of(stores, [stores[0].notices]) as fleet:
            yield fleet


@asynccontextmanager
async def fleet_of(
    stores: Sequence[WorkerStore], listeners: Sequence[Notices]
) -> AsyncIterator[Fleet]:
    """Give a fleet that is stopped at the end."""
    async with asyncio.TaskGroup() as tasks:
        fleet = Fleet(stores, listeners, tasks)
        try:
            yield fleet
        finally:
            fleet.stop()


async def _until(is_so: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            raise BenchFailed(otherwise, detail=f"This was waited for {PATIENCE_S:g} s.")
        await asyncio.sleep(LOOK_S)


async def _submit(filler: Filler, rate: int, for_s: float) -> Mapping[int, tuple[int, float]]:
    """Submit jobs at a rate; return number and time of the commit of each batch."""
    found = {}
    begun = time.perf_counter()
    part = min(PART, rate)
    for number in range(max(round(for_s * rate / part), 1)):
        await asyncio.sleep(max(begun + number * part / rate - time.perf_counter(), 0))
        batch = await filler.fill(part)
        found[batch] = (part, time.perf_counter() - filler.commit_ms[-1] / 1000)
    return found


async def _cpu_percent(home: Home, for_s: float) -> float:
    """Return how much of a core the database uses."""
    postmaster = int((home.pg / "postmaster.pid").read_text().split()[0])
    before_s, begun = cpu_s_of_tree(postmaster), time.perf_counter()
    await asyncio.sleep(for_s)
    used_s = cpu_s_of_tree(postmaster) - before_s
    return 100 * used_s / (time.perf_counter() - begun)


def _spread(values: Sequence[float]) -> Mapping[str, float]:
    if not values:
        return {"p50": 0.0, "p99": 0.0, "max": 0.0}
    return {
        "p50": round(percentile(values, 50), 1),
        "p99": round(percentile(values, 99), 1),
        "max": round(max(values), 1),
    }
