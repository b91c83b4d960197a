"""A driver that a bench plays itself, and what its workers ask for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from weft.bench.turns import CPU_M, MEMORY_MIB
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.driver.loops.conditions import ConditionTester
from weft.ports.store import ClaimRequest
from weft.settings import Settings
from weft.store import open_driver_store


@asynccontextmanager
async def driving(dsn: str, *testers: ConditionTester) -> AsyncIterator[None]:
    """Run a driver in this process."""
    async with open_driver_store(dsn) as store:
        driver = Driver(
            store, store.notices, Settings(), Adapters(*testers), on_state=lambda _: None
        )
        task = asyncio.create_task(driver.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def claim_of(jobs: int) -> ClaimRequest:
    """Return the request of a worker with room for this many jobs of a bench."""
    return ClaimRequest(
        budget_cpu_m=CPU_M * jobs, budget_memory_mib=MEMORY_MIB * jobs, limit_jobs=jobs
    )
