"""Whether 64 claimers at once hinder each other.

Connections of two processes claim and complete, as in `statemachine` at 20 jobs a call: from one
connection to 64, the numbers in turns. The figure is the rate of all 64 together, the reference
that of the number that does best. The server's log tells each wait for a lock beyond 10 ms.
"""

from typing import Any

from benches.lock_waits import lock_waits, log_lock_waits
from benches.server import BenchServer, bench_server
from weft.bench.figures import Headline, document_of, load_average, median_rate, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.turns import Order

JOBS = 40_000
"""Of a run."""
ROUNDS = 5
SIZE = 20
CLAIMERS = (2, 4, 8, 16, 32, 64)
WARM_UP = 2_000
PATIENCE_S = 0.2
"""A claim finds nothing while the others have locked what is left."""
WAIT_MS_MAX = 50
GOAL = 0.8


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second by number of claimers, and what they waited for."""
    load, rounds, jobs = load_average(), plan.rounds_of(ROUNDS), plan.jobs_of(JOBS)
    progress.begin(rounds + 2)
    rates: dict[int, list[float]] = {claimers: [] for claimers in CLAIMERS}
    async with bench_server(plan.directory) as server:
        progress.step("start and warm up")
        await log_lock_waits(server.admin_dsn)
        for claimers in CLAIMERS:
            await server.fill_and_run(WARM_UP, _order(server, claimers))
        for number in range(1, rounds + 1):
            progress.step(f"round {number}")
            for claimers, found in rates.items():
                found.append((await server.fill_and_run(jobs, _order(server, claimers))).rate)
        progress.step("audit")
        findings = await server.findings()
        ((deadlocks,),) = await server.rows("deadlocks")
        waits = lock_waits(server.home)
        sizes = {
            "jobs": jobs,
            "rounds": rounds,
            "jobs_a_call": SIZE,
            "processes": server.runners.count,
        }
        conditions = await server.conditions(load_before=load, sizes=sizes)
    by_claimers = {claimers: median_rate(found) for claimers, found in rates.items()}
    weft, reference = by_claimers[CLAIMERS[-1]], max(by_claimers.values())
    return document_of(
        Headline("jobs/s", weft, reference, ratio_of(weft, reference)),
        {
            "goal": GOAL,
            "by_claimers": {str(claimers): rate for claimers, rate in by_claimers.items()},
            "deadlocks": deadlocks,
            "lock_wait_ms_max": max((ms for found in waits.values() for ms in found), default=0),
            "lock_waits_over_50_ms": {
                lock: over
                for lock, found in waits.items()
                if (over := sum(ms > WAIT_MS_MAX for ms in found))
            },
            "audit_findings": findings,
        },
        conditions,
    )


def _order(server: BenchServer, claimers: int) -> Order:
    return Order(
        kind="weft", size=SIZE, claimers=claimers // server.runners.count, patience_s=PATIENCE_S
    )
