"""How fast failed jobs are ready again.

A worker ends the jobs of a batch; one in ten fails, so failures lie all over the batch. Then the
batch is retried, with a driver in this process, and every failed job is claimed again. There is
nothing to compare it with.
"""

import asyncio
import time
from typing import Any

from benches.ends import end_all, playing
from weft.bench.figures import Headline, conditions_of, document_of, load_average
from weft.bench.filled_batch import TRACE_ID, Filler
from weft.bench.plan import BenchFailed, BenchPlan, BenchProgress
from weft.bench.statemachine import tidy
from weft.bench.throwaway import running_database, throwaway_home
from weft.bench.turns import audit_findings
from weft.ports.store import Origin

JOBS = 1_000_000
FAILS_EVERY = 10
LOOK_S = 0.02
LONGEST_S = 300.0


async def measure(plan: BenchPlan, progress: BenchProgress) -> dict[str, Any]:
    """Return the seconds from the request until the last failed job is ready again."""
    load, jobs = load_average(), plan.jobs_of(JOBS)
    failed = jobs // FAILS_EVERY
    progress.begin(6)
    with throwaway_home(plan.directory) as home:
        progress.step("start")
        async with running_database(home) as (logins, token):
            async with playing(logins, token) as (filler, store):
                progress.step(f"submit {jobs:,} jobs")
                batch_id = await filler.fill(jobs)
                progress.step(f"let {failed:,} of them fail")
                await end_all(store, jobs, fails=lambda job: job % FAILS_EVERY == 0)
                await tidy(logins["admin"])
                progress.step("retry them")
                seconds = await _retry(filler, batch_id, failed)
                progress.step("run them again")
                await end_all(store, failed, fails=lambda _: False)
            progress.step("audit")
            findings = await audit_findings(logins["admin"])
            conditions = await conditions_of(
                logins["admin"],
                home.path,
                load_before=load,
                sizes={"jobs": jobs, "failed": failed},
            )
    return document_of(
        Headline("s", round(seconds, 3), None, None),
        {"seconds": round(seconds, 3), "audit_findings": findings},
        conditions,
    )


async def _retry(filler: Filler, batch_id: int, failed: int) -> float:
    """Retry the batch; return after how many seconds its jobs were ready."""
    store, caller = filler.opened
    begun = time.monotonic()
    async with asyncio.timeout(LONGEST_S):
        number = await store.retry_jobs(caller, batch_id, Origin(trace_id=TRACE_ID))
        while True:
            found = await store.get_operation(caller, number)
            if found["state"] != "running":
                break
            await asyncio.sleep(LOOK_S)
    took_s = time.monotonic() - begun
    if found["state"] != "success" or found["result"]["n_retried"] != failed:
        raise BenchFailed(f"of {failed:,} failed jobs not all run again: {found}")
    return took_s
