"""Response times of a batch of 16,000,000 jobs, beside a batch of 1,000.

Half of the jobs come as arrays, half in bunches; then some of them run. The requests go over HTTP
on one open connection, one at a time, in turns between the two batches: the batch's document, the
cost of its root group, a group, the first page of jobs, a page anywhere, one job anywhere.
"""

import random
from collections.abc import Callable
from time import perf_counter
from typing import Any

import asyncpg
import httpx

from benches.filled_arrays import fill_arrays
from benches.layout import Sets
from benches.running_api import running_api
from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    percentile,
    query,
)
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.runners import Runners
from weft.bench.throwaway import running_database, running_driver, throwaway_home
from weft.bench.turns import Order

JOBS = 16_000_000
SMALL_JOBS = 1_000
RUN_SHARE = 1 / 32
"""Of the jobs are run before anything is read."""
REQUESTS = 500
"""Of each kind to each batch."""
WARM_UP = 20
SIZE = 500
GROUPS = Sets(per_job=2, block=500_000)
P99 = 99

Path = Callable[[int, int], str]
"""The path of a request, for a batch and one of its jobs."""
READS: dict[str, Path] = {
    "status": lambda batch, _job: f"/v1/batches/{batch}",
    "cost": lambda batch, _job: f"/v1/batches/{batch}/groups/0",
    "group": lambda batch, _job: f"/v1/batches/{batch}/groups/stage1",
    "page": lambda batch, _job: f"/v1/batches/{batch}/jobs",
    "random_page": lambda batch, job: f"/v1/batches/{batch}/jobs?q=job_id%20%3E%3D%20{job}",
    "job": lambda batch, job: f"/v1/batches/{batch}/jobs/{job}",
}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the 99th percentile of each kind of request, and the bytes of a job."""
    load, jobs, requests = load_average(), plan.jobs_of(JOBS), plan.rounds_of(REQUESTS)
    progress.begin(6)
    with throwaway_home(plan.directory) as home:
        async with running_database(home) as (logins, token), running_driver(home):
            filler = Filler(logins["weft_api"], token)
            runners = Runners(admin_dsn=logins["admin"], worker_dsn=logins["weft_worker"])
            async with running_api(home) as url, runners, filler:
                progress.step("submit the small batch and run it")
                small = await filler.fill(SMALL_JOBS, GROUPS)
                await runners.run(Order(kind="weft", size=SIZE))
                before = await _table_bytes(logins["admin"])
                progress.step(f"submit {jobs} jobs")
                huge = await fill_arrays(filler, jobs, jobs // 2, GROUPS)
                table_bytes = await _table_bytes(logins["admin"]) - before
                progress.step("run some of them")
                await runners.run(
                    Order(
                        kind="weft_in_two",
                        size=SIZE,
                        jobs_max=max(SIZE, int(jobs * RUN_SHARE / 2)),
                    )
                )
                await _analyze(logins["admin"])
                progress.step("read")
                headers = {"authorization": f"Bearer {token}"}
                async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as http:
                    figures = await _read(
                        http, {huge: jobs, small: SMALL_JOBS}, requests, progress
                    )
                conditions = await conditions_of(
                    logins["admin"],
                    home.path,
                    load_before=load,
                    sizes={"jobs": jobs, "small": SMALL_JOBS, "requests": requests},
                )
    p99 = {name: round(percentile(found, P99), 2) for name, found in figures[huge].items()}
    beside = {name: round(percentile(found, P99), 2) for name, found in figures[small].items()}
    return document_of(
        Headline("ms", p99, beside, round(max(p99[name] / beside[name] for name in p99), 3)),
        {
            **{f"{name}_p99_ms": found for name, found in p99.items()},
            "bytes_per_job": round(table_bytes / jobs, 1),
            "commit_ms": round(filler.commit_ms[-1], 1),
            "submit_rate": round(filler.rates[-1]),
        },
        conditions,
    )


async def _read(
    http: httpx.AsyncClient, jobs_of: dict[int, int], requests: int, progress: BenchProgress
) -> dict[int, dict[str, list[float]]]:
    """Return the milliseconds of each request, by batch and kind."""
    took: dict[int, dict[str, list[float]]] = {
        batch: {name: [] for name in READS} for batch in jobs_of
    }
    chance = random.Random(0)  # noqa: S311 (chooses what to read)
    for number in range(WARM_UP + requests):
        if number == WARM_UP + requests // 2:
            progress.step("read the second half")
        for name, path in READS.items():
            for batch, jobs in jobs_of.items():
                begun = perf_counter()
                answer = await http.get(path(batch, chance.randint(1, jobs)))
                ms = (perf_counter() - begun) * 1000
                if answer.is_error:
                    raise BenchFailed(
                        f"{name} was answered {answer.status_code}", detail=answer.text
                    )
                if number >= WARM_UP:
                    took[batch][name].append(ms)
    return took


async def _table_bytes(admin_dsn: str) -> int:
    """Return what all tables and their indexes take."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        return int(await connection.fetchval(query("table_bytes")))
    finally:
        await connection.close()


async def _analyze(admin_dsn: str) -> None:
    """Do what autovacuum has not had the time for."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute("VACUUM (ANALYZE)", timeout=3600)
    finally:
        await connection.close()
