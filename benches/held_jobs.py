"""Jobs that run as long as a bench wants: claimed and started by a worker that only beats."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from benches.roles import claim_of
from weft.bench.plan import BenchFailed
from weft.bench.turns import register
from weft.ports.store import Claimed, StartReport
from weft.settings import Settings
from weft.store import open_worker_store

SET = 1_000
"""Jobs a claim."""


@contextlib.asynccontextmanager
async def held_jobs(worker_dsn: str, jobs: int) -> AsyncIterator[None]:
    """Let this number of ready jobs run until the end of the block."""
    async with open_worker_store(worker_dsn) as store:
        incarnation_id = await register(store, "holder", cores=jobs)
        held: list[Claimed] = []
        while len(held) < jobs:
            found = await store.claim_jobs(incarnation_id, claim_of(min(SET, jobs - len(held))))
            if not found:
                raise BenchFailed(f"only {len(held):,} of {jobs:,} jobs could be claimed")
            held += found
            await store.start_attempts(
                incarnation_id,
                [
                    StartReport(batch_id=c.batch_id, job_id=c.job_id, attempt=c.attempt, age_us=0)
                    for c in found
                ],
            )
        keys = [(one.batch_id, one.job_id, one.attempt) for one in held]

        async def beat() -> None:
            while True:
                await store.heartbeat(incarnation_id, keys, draining=False)
                await asyncio.sleep(Settings().heartbeat_s)

        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await beating
            await store.leave(incarnation_id)
