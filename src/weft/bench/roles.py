"""The parts that a bench plays itself: a worker, and the administrator who audits."""

import uuid

from weft import __version__
from weft.bench.turns import CPU_M, MEMORY_MIB
from weft.ports.store import WorkerStore
from weft.store import open_admin


async def audit_findings(admin_dsn: str) -> int:
    """Return how many checks of the audit find something."""
    async with open_admin(admin_dsn) as admin:
        return sum(bool(finding.rows) for finding in await admin.audit())


async def register(store: WorkerStore, name: str, *, cores: int) -> int:
    """Register a worker with room for one job of a bench on each core; return its incarnation."""
    registered = await store.register_worker(
        name=name, host=name, pool="default", incarnation=str(uuid.uuid4()),
        cpu_m=CPU_M * cores, memory_mib=MEMORY_MIB * cores, storage_mib=0, gpu=0,
        offers={"executor": ["process", "function"]},
        version=__version__, same_host_proved_gone=True,
    )  # fmt: skip
    return registered.incarnation_id
