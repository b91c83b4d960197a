"""What a limit that is near costs those who look, and those it does not concern."""

import pytest

from plans.table_reads import reads
from plans.test_driver_plans import read_by
from store.test_admissions import limit
from store.world import Worker, World

pytestmark = pytest.mark.slow
MANY = 20_000


async def test_driver_admits_without_reading_all_that_waits(own_world: World) -> None:
    """Whether jobs wait in a range of their batch or one by one."""
    await own_world.submit(MANY)
    await own_world.worker()
    await limit(own_world, 2.5)
    epoch = await own_world.lead()
    (one,) = await own_world.driver.limit_rounds(epoch)
    arguments = {"epoch": epoch, "limit_ids": [one.limit_id], "rooms": [3], "limit_jobs": 10}
    await own_world.admin.execute("VACUUM ANALYZE")
    _, read = await read_by(own_world, "weft_driver", "admit_at_limits", **arguments)

    assert read["job"] <= 200
    assert read["ready_job"] <= 100


async def test_batches_without_limits_read_no_admissions(own_world: World, worker: Worker) -> None:
    async with reads(own_world.admin, "admission") as found:
        await own_world.submit(3)
        await worker.run()
        await own_world.fold()

    assert found["admission"].scans == 0
    assert found["admission"].rows_by_index == 0
