"""The cost of a cancel of 1,000,000 jobs, for its caller and for others.

A batch runs on a real `weft up` and is cancelled while another one waits behind it. `ack_ms` is
the request; `started_after` counts processes of the batch that began more than 100 ms after the
acknowledgement; `settled_per_s` is how fast its waiting jobs are settled in the background. The
figure is the rate of the other batch meanwhile, the reference its rate when all is settled.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

import asyncpg

from benches.looking import until
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

JOBS = 1_000_000
ROUNDS = 1
COMMAND = ["/bin/true"]
OTHER_SHARE = 0.25
"""Jobs of the other batch, as a part of those of the first."""
OTHER_MIN = 20_000
RUNS_FIRST = 20
"""Jobs that have ended when the batch is cancelled."""
SETTLE_IN_S = 0.5
"""Until the worker has changed from one batch to the other."""
WINDOW_MIN_S = 2.0
LATE_S = 0.1


@dataclass(frozen=True)
class CancelTimes:
    """The measurements of one cancel."""

    ack_ms: float
    started_after: int
    settled_per_s: float
    meanwhile: float
    """Jobs of the other batch per second while the first was settled."""
    alone: float


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return what a cancel did, medians over the rounds."""
    load, count, rounds = load_average(), plan.jobs_of(JOBS), plan.rounds_of(ROUNDS)
    progress.begin(rounds + 1)
    with throwaway_home(plan.directory) as home:
        progress.step("start")
        async with running_weft(home), client_of(home) as client:
            admin = home.secrets()["admin"]
            found = []
            for number in range(1, rounds + 1):
                progress.step(f"{count:,} jobs, round {number}")
                found.append(await _cancel_one(client, admin, count))
            sizes = {"jobs": count, "rounds": rounds}
            conditions = await conditions_of(admin, home.path, load_before=load, sizes=sizes)
    meanwhile = median_rate([one.meanwhile for one in found])
    alone = median_rate([one.alone for one in found])
    return document_of(
        Headline("jobs/s", meanwhile, alone, ratio_of(meanwhile, alone)),
        {
            "ack_ms": round(median(one.ack_ms for one in found), 2),
            "started_after": sum(one.started_after for one in found),
            "settled_per_s": median_rate([one.settled_per_s for one in found]),
        },
        conditions,
    )


async def _cancel_one(client: Api, admin_dsn: str, count: int) -> CancelTimes:
    batch_id = await _submit(client, count)
    other_id = await _submit(client, max(OTHER_MIN, round(count * OTHER_SHARE)))
    await until(client, batch_id, lambda batch: batch["n_completed"] >= RUNS_FIRST)
    begun = time.perf_counter()
    await client.cancel_batch(batch_id)
    acknowledged, acknowledged_at = time.perf_counter(), time.time()
    left = (await client.get_batch(batch_id))["n_ready"]
    rate = asyncio.create_task(_rate_of(client, other_id, batch_id))
    await until(client, batch_id, _is_settled)
    settled_s = time.perf_counter() - acknowledged
    meanwhile = await rate
    alone = await _rate_of(client, other_id)
    await client.cancel_batch(other_id)
    connection = await asyncpg.connect(admin_dsn)
    try:
        late = await connection.fetchval(
            query("started_after"), batch_id, acknowledged_at + LATE_S
        )
    finally:
        await connection.close()
    ack_ms = (acknowledged - begun) * 1000
    return CancelTimes(ack_ms, int(late), left / settled_s, meanwhile, alone)


async def _submit(client: Api, count: int) -> int:
    document = {"name": "bench", "jobs": [{"command": COMMAND, "count": count}]}
    return int((await client.submit(document))["id"])


async def _rate_of(client: Api, batch_id: int, while_settled: int | None = None) -> float:
    """Return how many jobs of a batch end per second: for a while, or as long as another one has
    jobs to be settled.
    """
    await asyncio.sleep(SETTLE_IN_S)
    begun, first = time.perf_counter(), await _completed(client, batch_id)
    await asyncio.sleep(WINDOW_MIN_S)
    if while_settled is not None:
        await until(client, while_settled, _is_settled)
    took_s = time.perf_counter() - begun
    return (await _completed(client, batch_id) - first) / took_s


def _is_settled(batch: Mapping[str, Any]) -> bool:
    return not batch["n_ready"]


async def _completed(client: Api, batch_id: int) -> int:
    return int((await client.get_batch(batch_id))["n_completed"])
