"""What the driver reads when it looks for attempts that are beyond a limit."""

from datetime import UTC, datetime, timedelta

import pytest

from plans.test_plans import reads
from store.test_monitor import watched
from store.world import World
from weft.store.database import call_on

pytestmark = pytest.mark.slow
TABLES = ("job", "attempt", "attempt_watch", "attempt_stop", "claim", "blocked_job")


async def test_step_reads_the_attempts_that_are_due(own_world: World) -> None:
    """However many others run."""
    world = own_world
    await world.submit(2_000)
    batch = await watched(world, 2_000, executing_s=60)
    worker = await world.worker()
    claimed = await worker.claim(4_000)
    await worker.start(*claimed)
    await worker.beat(*claimed)
    await world.admin.execute(
        "UPDATE weft.attempt_watch SET due_at = due_at + interval '1 day' "
        "WHERE batch_id = $1 AND job_id % 100 <> 0",
        batch,
    )
    epoch = await world.lead()
    connection = await world.connect("weft_driver")
    async with reads(connection, *TABLES) as found:
        rows = await call_on(
            connection, "stop_overdue", epoch=epoch, limit_jobs=100, confirm_s=120.0,
            at=datetime.now(UTC) + timedelta(seconds=90),
        )  # fmt: skip

    assert len(rows) == 20
    assert [table for table, read in found.items() if read.scans] == []
    assert found["attempt_watch"].rows_by_index < 200
    assert found["job"].rows_by_index < 1_000
    await worker.end(*claimed)
