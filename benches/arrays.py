"""How many jobs per second an array is, beside a bare INSERT ... SELECT of the same rows.

`weft` is one request over HTTP with an array, committed; `in_parts` is the public client, which
cuts an array into parts and sends several at a time. The reference makes rows of the same columns,
with the same values and the same key, in a table that has nothing else. No more than one job of
each batch runs, and that one sleeps, so the worker leaves the cores to what is measured.
"""

import time
from collections.abc import Awaitable, Callable
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

JOBS = 1_000_000
"""As many as one request may bring."""
ROUNDS = 5
WARM_UP = 20_000
ASLEEP = {"name": "bench", "max_running": 1}


def array_of(count: int) -> dict[str, Any]:
    """Return the document of an array as a user would write it."""
    return {"name": "each", "command": ["/bin/sleep", "1000000", "$WEFT_INDEX"], "count": count}


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return jobs per second of one request, of the client, and of INSERT ... SELECT."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    rates: dict[str, list[float]] = {"reference": [], "weft": [], "in_parts": []}
    progress.begin(len(rates) * rounds + 1)
    with throwaway_home(plan.directory) as home:
        async with running_weft(home), client_of(home) as client:
            admin = home.secrets()["admin"]
            calls: dict[str, Callable[[int], Awaitable[float]]] = {
                "reference": lambda count: _insert(admin, count),
                "weft": lambda count: _request(client, count),
                "in_parts": lambda count: _upload(client, count),
            }
            progress.step("start and warm up")
            for call in calls.values():
                await call(min(count, WARM_UP))
            for number in range(1, rounds + 1):
                for name, call in calls.items():
                    progress.step(f"{name}, round {number}")
                    rates[name].append(await call(count))
            sizes = {"jobs": count, "rounds": rounds}
            conditions = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    weft, in_parts, reference = (
        median_rate(rates[name]) for name in ("weft", "in_parts", "reference")
    )
    return document_of(
        Headline("jobs/s", weft, reference, ratio_of(weft, reference)),
        {
            "in_parts": {"weft": in_parts, "ratio": ratio_of(in_parts, reference)},
            "rounds": {name: list(map(round, found)) for name, found in rates.items()},
        },
        conditions,
    )


async def _request(client: Api, count: int) -> float:
    batch_id = int((await client.create_batch(ASLEEP))["id"])
    begun = time.perf_counter()
    await client.create_update(batch_id, {"jobs": [array_of(count)]})
    return count / (time.perf_counter() - begun)


async def _upload(client: Api, count: int) -> float:
    batch_id = int((await client.create_batch(ASLEEP))["id"])
    begun = time.perf_counter()
    await Upload(count, lambda: [array_of(count)]).run(client, batch_id)
    return count / (time.perf_counter() - begun)


async def _insert(admin_dsn: str, count: int) -> float:
    connection = await asyncpg.connect(admin_dsn)
    try:
        await connection.execute(query("bare_array"))
        begun = time.perf_counter()
        await connection.execute(query("bare_insert"), count)
        return count / (time.perf_counter() - begun)
    finally:
        await connection.close()
