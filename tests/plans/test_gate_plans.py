"""What admission at a gate reads."""

import pytest

from plans.test_plans import N_JOBS, reads
from store.world import World
from weft.store.database import call_on
from weft.store.worker_store import end_columns
from weft.testing.builders import end_report

pytestmark = pytest.mark.slow


async def test_admission_reads_the_jobs_that_it_admits(own_world: World) -> None:
    """However many wait behind the gate, and however many have passed it; the driver is away."""
    world = own_world
    await world.submit(N_JOBS, max_running=20)
    worker = await world.worker()
    claimed = await worker.claim()
    for _ in range(150):
        await worker.end(*claimed)
        claimed = await worker.claim()
    connection = await world.connect("weft_worker")
    columns = end_columns([end_report(one) for one in claimed])
    async with reads(connection, "job", "ready_job", "runnable", "place", "gate") as found:
        await call_on(connection, "complete_attempts", incarnation_id=worker.id, **columns)
    await connection.close()

    assert len(claimed) == 20
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 400
    assert found["ready_job"].rows_by_index < 200
    assert found["place"].rows_by_index < 200
