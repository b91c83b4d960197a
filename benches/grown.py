"""How many jobs per second are claimed and completed beside 10,000,000 finished jobs.

As in `statemachine`, at 100 jobs a call. The reference is another server with 10,000 finished
jobs; their rounds alternate. The finished jobs have been claimed and completed by the same
functions, 5,000 jobs a call, so all that belongs to them is there: attempts, events, sums.
"""

from typing import Any

from benches.filled_arrays import fill_arrays
from benches.server import BenchServer, bench_server
from weft.bench.figures import Headline, document_of, load_average, median_rate, ratio_of
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.statemachine import tidy
from weft.bench.turns import Order

FINISHED = 10_000_000
FINISHED_FEW = 10_000
BATCH_JOBS = 500_000
"""Of each batch of finished jobs."""
JOBS = 20_000
"""Of a round."""
ROUNDS = 7
SIZE = 100
FILLING = Order(kind="weft", size=5_000)
ORDER = Order(kind="weft", size=SIZE)
GOAL = 0.9


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second beside many and few finished jobs, medians of the rounds."""
    load, rounds, finished = load_average(), plan.rounds_of(ROUNDS), plan.jobs_of(FINISHED)
    few_finished = min(finished, FINISHED_FEW)
    progress.begin(rounds + 3)
    with_many: list[float] = []
    with_few: list[float] = []
    async with bench_server(plan.directory) as many, bench_server(plan.directory) as few:
        progress.step(f"finish {finished:,} jobs")
        await _finish(few, few_finished)
        await _finish(many, finished)
        progress.step("warm up")
        for server in (many, few):
            await server.fill_and_run(JOBS // 10, ORDER)
        for number in range(1, rounds + 1):
            progress.step(f"round {number}")
            with_many.append((await many.fill_and_run(JOBS, ORDER)).rate)
            with_few.append((await few.fill_and_run(JOBS, ORDER)).rate)
        progress.step("audit")
        findings = await many.findings() + await few.findings()
        ((table_bytes,),) = await many.rows("table_bytes")
        sizes = {
            "finished": finished,
            "finished_few": few_finished,
            "jobs": JOBS,
            "jobs_a_call": SIZE,
            "processes": many.runners.count,
            "rounds": rounds,
        }
        conditions = await many.conditions(load_before=load, sizes=sizes)
    weft, reference = median_rate(with_many), median_rate(with_few)
    return document_of(
        Headline("jobs/s", weft, reference, ratio_of(weft, reference)),
        {
            "goal": GOAL,
            "table_bytes": table_bytes,
            "rounds": {
                "weft": list(map(round, with_many)),
                "reference": list(map(round, with_few)),
            },
            "audit_findings": findings,
        },
        conditions,
    )


async def _finish(server: BenchServer, jobs: int) -> None:
    """Store this number of finished jobs."""
    for first in range(0, jobs, BATCH_JOBS):
        count = min(BATCH_JOBS, jobs - first)
        await fill_arrays(server.filler, count, count)
        await server.run_all(count, FILLING)
    await tidy(server.admin_dsn)
