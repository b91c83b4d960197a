"""How many jobs per second one client can submit over HTTP, commit included.

The reference is binary COPY of bare job rows into the same server. The public client sends six
bunches at a time; making the documents counts. After each round the batch is cancelled and
swept, which is not timed.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

import asyncpg

from weft.bench.figures import (
    Headline,
    conditions_of,
    document_of,
    load_average,
    median_rate,
    query,
    ratio_of,
)
from weft.bench.plan import BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api
from weft.client.submission.upload import Upload

JOBS = 200_000
ROUNDS = 3
WARM_UP = 2_000
Document = Mapping[str, Any]


def plain_job(number: int) -> Document:
    """Return a job as a loop in a program would write it."""
    return {"command": ["/bin/echo", f"hello {number}"]}


def labelled_job(number: int) -> Document:
    """Return a job with all that many jobs carry: each name and attribute is a row of its own."""
    return {
        "command": ["/bin/echo", f"hello {number}"],
        "name": f"job{number}",
        "attributes": {"sample": str(number)},
        "resources": {"cpu": 0.25, "memory": "512Mi"},
    }


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of the client and of COPY, medians over the rounds."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    plain: list[float] = []
    labelled: list[float] = []
    reference: list[float] = []
    progress.begin(3 * rounds + 1)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), client_of(home) as client:
            progress.step("start and warm up")
            await submit_jobs(client, min(count, WARM_UP), plain_job)
            admin = home.secrets()["admin"]
            for number in range(1, rounds + 1):
                progress.step(f"COPY, round {number}")
                reference.append(await _copy(admin, count))
                progress.step(f"weft, round {number}")
                plain.append(await submit_jobs(client, count, plain_job))
                progress.step(f"weft with names, attributes and resources, round {number}")
                labelled.append(await submit_jobs(client, count, labelled_job))
            sizes = {"jobs": count, "rounds": rounds}
            conditions = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    copied = median_rate(reference)
    with_labels = median_rate(labelled)
    return document_of(
        Headline("jobs/s", median_rate(plain), copied, ratio_of(median_rate(plain), copied)),
        {
            "with_labels": {"weft": with_labels, "ratio": ratio_of(with_labels, copied)},
            "rounds": {
                "weft": list(map(round, plain)),
                "with_labels": list(map(round, labelled)),
                "reference": list(map(round, reference)),
            },
        },
        conditions,
    )


async def submit_jobs(client: Api, count: int, job_of: Callable[[int], Document]) -> float:
    """Submit a batch and cancel it; return jobs per second until it was committed."""
    begun = time.perf_counter()
    created = await client.create_batch({"name": "bench"})
    batch_id = int(created["id"])
    await Upload(count, lambda: map(job_of, range(count))).run(client, batch_id)
    took_s = time.perf_counter() - begun
    await client.cancel_batch(batch_id, force=True)
    async for _ in client.watch_batch(batch_id):
        pass
    return count / took_s


async def _copy(admin_dsn: str, count: int) -> float:
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute(query("bare_jobs"))
        begun = time.perf_counter()
        await connection.copy_records_to_table(
            "job",
            schema_name="bare",
            records=(
                (1, number, 1, 2, 1, 1, 0, 0, 1, 0, 1000, 1024, False)
                for number in range(1, count + 1)
            ),
        )
        return count / (time.perf_counter() - begun)
    finally:
        await connection.close()
