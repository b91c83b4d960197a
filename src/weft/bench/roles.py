"""The parts that a bench plays itself: a driver, a worker, and the administrator who audits."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from weft import __version__
from weft.bench.turns import CPU_M, MEMORY_MIB
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.ports.store import ClaimRequest, WorkerStore
from weft.settings import Settings
from weft.store import open_admin, open_driver_store


async def audit_findings(admin_dsn: str) -> int:
    """Return how many checks of the audit find something."""
    async with open_admin(admin_dsn) as admin:
        return sum(bool(finding.rows) for finding in await admin.audit())


@asynccontextmanager
async def driving(dsn: str, *adapters: object) -> AsyncIterator[None]:
    """Run a driver in this process."""
    async with open_driver_store(dsn) as store:
        driver = Driver(
            store, store.notices, Settings(), Adapters(*adapters), on_state=lambda _: None
        )
        task = asyncio.create_task(driver.run())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def register(store: WorkerStore, name: str, *, cores: int) -> int:
    """Register a worker with room for one job of a bench on each core; return its incarnation."""
    registered = await store.register_worker(
        name=name, host=name, pool="default", incarnation=str(uuid.uuid4()),
        cpu_m=CPU_M * cores, memory_mib=MEMORY_MIB * cores, storage_mib=0, gpu=0,
        offers={"executor": ["process", "function"]},
        version=__version__, same_host_proved_gone=True,
    )  # fmt: skip
    return registered.incarnation_id


def claim_of(jobs: int) -> ClaimRequest:
    """Return the request of a worker with room for this many jobs of a bench."""
    return ClaimRequest(
        budget_cpu_m=CPU_M * jobs, budget_memory_mib=MEMORY_MIB * jobs, limit_jobs=jobs
    )
