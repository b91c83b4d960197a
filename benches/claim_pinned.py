"""Whether claims get slower while a transaction stays open, so that no dead row can be removed.

As in `statemachine`, at 100 jobs a call: two processes claim and complete one batch after the
other while another connection keeps the snapshot that it took before the first. In turns with that
the same runs are made on another server without that connection. The figure is the rate of the
last tenth beside the first one.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import asyncpg

from benches.queries import query
from benches.server import BenchServer, bench_server
from weft.bench.figures import Headline, document_of, load_average, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.runners import RunnersRun
from weft.bench.turns import Order

JOBS = 1_000_000
SIZE = 100
WARM_UP = 2_000
PARTS = 10
"""Batches of a run, submitted one by one: a part is submitted when the one before it is done."""
GOAL = 0.9
ORDER = Order(kind="weft", size=SIZE)


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the rate of each part with and without the open transaction."""
    load = load_average()
    part = max(SIZE, plan.jobs_of(JOBS) // PARTS)
    progress.begin(PARTS + 2)
    pinned: list[RunnersRun] = []
    free: list[RunnersRun] = []
    async with bench_server(plan.directory) as one, bench_server(plan.directory) as other:
        progress.step("start and warm up")
        for server in (one, other):
            await server.fill_and_run(WARM_UP, ORDER)
        async with _open_transaction(one):
            for number in range(1, PARTS + 1):
                progress.step(f"{part:,} jobs, part {number}")
                for server, runs in ((one, pinned), (other, free)):
                    await server.filler.fill(part)
                    runs.append(await server.run_all(part, ORDER))
        progress.step("audit")
        findings = await one.findings() + await other.findings()
        sizes = {"jobs": part * PARTS, "jobs_a_call": SIZE, "processes": one.runners.count}
        conditions = await one.conditions(load_before=load, sizes=sizes)
    weft, reference = _rate(pinned), _rate(free)
    last_by_first = ratio_of(pinned[-1].rate, pinned[0].rate)
    by_free = ratio_of(weft, reference)
    return document_of(
        Headline("jobs/s", round(weft), round(reference), min(last_by_first, by_free)),
        {
            "goal": GOAL,
            "last_by_first": last_by_first,
            "last_by_first_without": ratio_of(free[-1].rate, free[0].rate),
            "by_without": by_free,
            "parts": {
                "weft": [round(run.rate) for run in pinned],
                "reference": [round(run.rate) for run in free],
            },
            "audit_findings": findings,
        },
        conditions,
    )


def _rate(runs: list[RunnersRun]) -> float:
    """Return the jobs per second of all runs together."""
    jobs = sum(count for run in runs for _, count in run.calls)
    return jobs / sum(run.calls[-1][0] - run.began_at for run in runs)


@asynccontextmanager
async def _open_transaction(server: BenchServer) -> AsyncIterator[None]:
    """Keep a snapshot, as a forgotten session or a long dump does."""
    connection = await asyncpg.connect(server.admin_dsn)
    try:
        async with connection.transaction(isolation="repeatable_read"):
            await connection.fetchval(query("deadlocks"))  # takes the snapshot
            yield
    finally:
        connection.terminate()
