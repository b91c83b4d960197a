"""How soon it is known why jobs failed, and what failures cost.

A worker reports the ends of two batches: one succeeds, in the other each job fails with a message
of its own, for one of three causes. A driver in this process does what it always does. After the
last report the causes are asked for until all jobs are counted, and then the driver's sums are
watched until nothing is left to add up. The reference is the batch that succeeds.
"""

import asyncio
import time
from typing import Any

import asyncpg

from benches.ends import SAID, end_all, playing
from benches.queries import query
from weft.bench.figures import Headline, conditions_of, document_of, load_average
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, throwaway_home
from weft.bench.turns import audit_findings

JOBS = 1_000_000
LONGEST_S = 60.0


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the seconds from the last failure until its cause is counted, and the rates."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    progress.begin(6)
    with throwaway_home(plan.directory) as home:
        progress.step("start")
        async with running_database(home) as (logins, token):
            async with playing(logins, token) as (filler, store):
                await _fill(filler, jobs, logins["admin"])
                progress.step(f"end {jobs:,} jobs well")
                well_s = await end_all(store, jobs, fails=lambda _: False)
                batch_id = await _fill(filler, jobs, logins["admin"])
                progress.step(f"let {jobs:,} jobs fail")
                failed_s = await end_all(store, jobs, fails=lambda _: True)
                progress.step("ask for the causes")
                causes_s = await _until_counted(filler, batch_id, jobs)
                progress.step("add up the rest")
                folded_s = await _until_folded(logins["admin"])
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"], home.path, load_before=load, sizes={"jobs": jobs}
            )
    rates = round(jobs / failed_s), round(jobs / well_s)
    return document_of(
        Headline("jobs/s, s", rates[0], rates[1], round(rates[0] / rates[1], 3)),
        {
            "causes_s": round(causes_s, 3),
            "folded_s": round(causes_s + folded_s, 3),
            "audit_findings": findings,
        },
        conditions,
    )


async def _fill(filler: Filler, jobs: int, dsn: str) -> int:
    batch_id = await filler.fill(jobs)
    await tidy(dsn)
    return batch_id


async def _until_counted(filler: Filler, batch_id: int, jobs: int) -> float:
    """Return after how many seconds the answer has all failures, by their causes."""
    store, caller = filler.opened
    begun = time.monotonic()
    async with asyncio.timeout(LONGEST_S):
        while True:
            found = await store.list_causes(caller, batch_id, show_all=False, limit=100)
            if found["n_jobs"] == jobs:
                break
    if found["n_causes"] != min(jobs, len(SAID)):
        raise BenchFailed(f"{found['n_causes']} causes were found, not {len(SAID)}")
    return time.monotonic() - begun


async def _until_folded(dsn: str) -> float:
    """Return after how many more seconds the driver has added up everything."""
    connection, begun = await asyncpg.connect(dsn), time.monotonic()
    try:
        async with asyncio.timeout(LONGEST_S):
            left = 1
            while left:
                left = await connection.fetchval(query("unfolded_failures"))
    finally:
        await connection.close()
    return time.monotonic() - begun
