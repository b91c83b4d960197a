"""What the driver reads when it looks at deadlines."""

from datetime import UTC, datetime, timedelta

import pytest

from builders import job_rows
from plans.test_plans import Reads, reads
from store.test_arrays import array_rows
from store.test_deadlines import due
from store.world import World
from weft.store.database import call_on

pytestmark = pytest.mark.slow
TABLES = ("job", "job_deadline", "late_job", "ready_job")


async def read_by_a_step(world: World) -> dict[str, Reads]:
    """Let the driver look at 100 jobs, an hour later; return what that read."""
    epoch = await world.lead()
    at = datetime.now(UTC) + timedelta(hours=1)
    connection = await world.connect("weft_driver")
    async with reads(connection, *TABLES) as found:
        (row,) = await call_on(
            connection, "sweep_deadlines", epoch=epoch, limit_jobs=100, at=at,
        )  # fmt: skip
        assert row["sweep_deadlines"] == 100
    return found


async def test_step_reads_the_deadlines_that_are_due(own_world: World) -> None:
    """However many jobs wait for a later one, have none, or are late as well."""
    await own_world.submit(5_000)
    for in_s in (7200, 60):
        await own_world.submit(due(job_rows(2_000), in_s, *range(1, 2_001)))
    found = await read_by_a_step(own_world)

    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 500
    assert found["job_deadline"].rows_by_index < 500


async def test_step_reads_a_part_of_a_late_array(own_world: World) -> None:
    await own_world.submit(due(array_rows(20_000), 60, 1))
    await read_by_a_step(own_world)
    found = await read_by_a_step(own_world)

    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 500
    assert found["job_deadline"].rows_by_index < 500
