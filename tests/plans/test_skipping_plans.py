"""A claim reads few of the jobs that other workers have claimed."""

import pytest

from plans.test_plans import reads
from store.world import World
from weft.store.database import call_on

pytestmark = pytest.mark.slow


async def test_claim_skips_what_others_have_claimed_since_its_hint(own_world: World) -> None:
    """It looks at few of these jobs, and takes none that comes after one which it may have."""
    batch = await own_world.submit(6000)
    worker, others = (
        await own_world.worker("worker"),
        await own_world.worker("others", cpu_m=10**7, memory_mib=10**7),
    )
    mine = await worker.claim(10)
    taken = await others.claim(5000)
    await others.end(*taken[2000:2500])
    connection, locker = await own_world.connect("weft_worker"), await own_world.connect()
    async with locker.transaction(), reads(connection, "job") as found:
        await locker.execute(
            "SELECT FROM weft.job WHERE batch_id = $1 AND job_id BETWEEN 5011 AND 5200 FOR UPDATE",
            batch,
        )
        rows = await call_on(
            connection, "claim_jobs", incarnation_id=worker.id, budget_cpu_m=10**9,
            budget_memory_mib=10**9, limit_jobs=10, hint_runnable=[mine[-1].runnable_id],
            hint_job=[mine[-1].job_id],
        )  # fmt: skip
    await connection.close()

    assert (len(taken), [row["job_id"] for row in rows]) == (5000, list(range(5201, 5211)))
    assert found["job"].rows_by_index < 150
