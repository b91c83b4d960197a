"""How fast a scatter opens below its parent, and a gather after its last parent.

A batch of one job, an array of 100,000 below it, and one job below the array runs on a real
`weft up`. `all_ready_ms` is from the end of the first job until no job of the array waits any
more, as the batch document says; `gather_ms` from the end of the array's last job to the start of
the gather's process. The reference is one UPDATE that makes as many rows of a bare queue ready.
"""

import time
from datetime import datetime
from statistics import median
from typing import Any

import asyncpg

from benches.looking import until
from weft.bench.figures import Headline, conditions_of, document_of, load_average, query, ratio_of
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api

JOBS = 100_000
ROUNDS = 3
WARM_UP = 200
MS = 1000
SOURCE = 1


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the milliseconds of both, medians over the rounds."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    opened: list[float] = []
    gathered: list[float] = []
    reference: list[float] = []
    progress.begin(2 * rounds + 1)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), client_of(home) as client:
            admin = home.secrets()["admin"]
            progress.step("start and warm up")
            await _run(client, admin, WARM_UP)
            for number in range(1, rounds + 1):
                progress.step(f"UPDATE, round {number}")
                reference.append(await _update(admin, count))
                progress.step(f"weft, round {number}")
                open_ms, gather_ms = await _run(client, admin, count)
                opened.append(open_ms)
                gathered.append(gather_ms)
            sizes = {"jobs": count, "rounds": rounds}
            conditions = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    weft, bare = round(median(opened), 1), round(median(reference), 1)
    rounds_of = {"all_ready_ms": opened, "gather_ms": gathered, "reference": reference}
    return document_of(
        Headline("ms", weft, bare, ratio_of(bare, weft)),
        {
            "all_ready_ms": weft,
            "gather_ms": round(median(gathered), 1),
            "rounds": {
                name: [round(one, 1) for one in found] for name, found in rounds_of.items()
            },
        },
        conditions,
    )


async def _run(client: Api, admin_dsn: str, count: int) -> tuple[float, float]:
    document = {
        "name": "bench",
        "jobs": [
            {"name": "source", "command": ["/bin/sleep", "1"]},
            {"name": "scatter", "count": count, "parents": ["source"]},
            {"name": "gather", "command": ["/bin/true"], "parents": ["scatter"]},
        ],
    }
    batch_id = int((await client.submit(document))["id"])
    await until(client, batch_id, lambda batch: batch["n_pending"] <= 1)  # the gather
    seen_at = time.time()
    source = await client.get_job(batch_id, SOURCE)
    async for batch in client.watch_batch(batch_id):
        if batch["complete"] and batch["state"] != "success":
            raise BenchFailed("a job of the bench failed", detail=f"Batch {batch_id}.")
    connection = await asyncpg.connect(admin_dsn)
    try:
        gather_ms = await connection.fetchval(query("gather_delay"), batch_id, count + 2)
    finally:
        await connection.close()
    ended_at = datetime.fromisoformat(source["ended_at"]).timestamp()
    return (seen_at - ended_at) * MS, float(gather_ms)


async def _update(admin_dsn: str, count: int) -> float:
    """Return the milliseconds of one UPDATE that makes this number of rows ready."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute(query("bare_queue"))
        await connection.copy_records_to_table(
            "queue", schema_name="bare", records=((n, 0, 0) for n in range(1, count + 1))
        )
        begun = time.perf_counter()
        await connection.execute(query("bare_open"))
        return (time.perf_counter() - begun) * MS
    finally:
        await connection.close()
