"""Each of submit, claim and end, status, list, search, cancel and forecast beside ever more jobs.

One server is filled step by step: half of its jobs have ended, half wait. At each size every
request is made in turns with the others over HTTP, by one client that waits for each answer.
"""

import contextlib
import statistics
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any

import asyncpg

from benches.running_api import running_api
from weft import aio
from weft.bench.figures import Headline, conditions_of, document_of, load_average
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
"""Of them those that `--jobs` allows."""
JOBS = 1_000_000
BATCH_JOBS = 100_000
ROUNDS = 20
PAGE = 100
SIZE = 100
RUN_JOBS = 5_000
"""That are claimed and completed at each size, after those that fill it."""
FLAT = 1.5
"""Times as long as beside the fewest jobs is flat, for what varies by as much by itself."""
Call = Callable[[], Awaitable[object]]


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the median milliseconds of each call by the number of jobs, and their ratios."""
    load, rounds = load_average(), plan.rounds_of(ROUNDS)
    sizes = [size for size in SIZES if size <= plan.jobs_of(JOBS)]
    progress.begin(2 * len(sizes))
    tables: dict[int, dict[str, float]] = {}
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            filler = Filler(logins["weft_api"], token)
            async with running_api(home) as url, runners, filler, aio.Client(url, token) as client:
                batch, there = 0, 0
                for _ in range(PAGE):  # so that a page of batches is as full at each size
                    await one_batch(client, 1)
                for size in sizes:
                    progress.step(f"fill up to {size:,} jobs")
                    while there < size:
                        jobs = min(BATCH_JOBS, size - there)
                        batch = await filler.fill(jobs)
                        await runners.run(Order(kind="weft_in_two", size=500, jobs_max=jobs // 4))
                        there += jobs
                    await analyze(logins["admin"])
                    progress.step(f"ask beside {size:,}")
                    done = await runners.run(Order(kind="weft", size=SIZE, jobs_max=RUN_JOBS // 2))
                    medians = await ask(await calls_of(client, batch), rounds)
                    tables[size] = {"claim_and_end_100": 1e5 / done.rate, **medians}
                conditions = await conditions_of(
                    logins["admin"],
                    home.path,
                    load_before=load,
                    sizes={"jobs": sizes[-1], "rounds": rounds, "batch": BATCH_JOBS},
                )
    few, many = tables[sizes[0]], tables[sizes[-1]]
    ratios = {name: round(many[name] / few[name], 2) for name in many}
    rows = {f"{size}": {name: round(ms, 2) for name, ms in tables[size].items()} for size in sizes}
    return document_of(
        Headline("ms", rows[f"{sizes[-1]}"], rows[f"{sizes[0]}"], max(ratios.values())),
        {"goal": FLAT, "by_jobs": rows, "ratios": ratios},
        conditions,
    )


async def calls_of(client: aio.Client, batch_id: int) -> dict[str, Call]:
    """Return the calls; the batch is the newest of the large ones."""
    made: list[aio.Batch] = []
    batch = await client.get_batch(batch_id)

    async def submit(jobs: int = 1) -> None:
        made.append(await one_batch(client, jobs))

    async def cancel() -> None:
        await made[-1].cancel()

    async def first_of(listing: Any) -> None:  # noqa: ANN401 (listings have several types)
        async for _ in listing:
            break

    return {
        "submit": submit,
        "submit_1000": lambda: submit(1000),
        "status": batch.status,
        "batches": lambda: first_of(client.list_batches()),
        "jobs": lambda: first_of(batch.list_jobs()),
        "search_failed": lambda: first_of(batch.list_jobs("state = failed")),
        "search_all": lambda: first_of(client.list_batches("state = running")),
        "cancel": cancel,
        "forecast": lambda: client.forecast_batch(batch_id),
    }


async def one_batch(client: aio.Client, jobs: int) -> aio.Batch:
    """Submit a batch of so many jobs."""
    builder = client.create_batch()
    for _ in range(jobs):
        builder.create_job(["true"])
    return await builder.submit()


async def ask(calls: dict[str, Call], rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each call, asked in turns."""
    took: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds + 1):
        for name, call in calls.items():
            begun = perf_counter()
            await call()
            took[name].append((perf_counter() - begun) * 1000)
    return {name: statistics.median(ms[1:]) for name, ms in took.items()}


async def analyze(admin_dsn: str) -> None:
    """Do what autovacuum has not had the time for."""
    async with contextlib.AsyncExitStack() as stack:
        connection = await asyncpg.connect(admin_dsn)
        stack.push_async_callback(connection.close)
        await connection.execute("VACUUM (ANALYZE)", timeout=3600)
