"""What the driver reads when it looks for attempts that are beyond a limit."""

from datetime import UTC, datetime, timedelta

import pytest

from builders import job_rows
from plans.test_plans import read_by_call, reads
from store.test_monitor import watched
from store.world import World
from weft.store.database import call_on

pytestmark = pytest.mark.slow
TABLES = ("job", "attempt", "attempt_watch", "attempt_stop", "claim", "blocked_job")


async def test_step_reads_the_attempts_that_are_due(own_world: World) -> None:
    """However many others run."""
    await own_world.submit(2_000)
    batch = await watched(own_world, 2_000, executing_s=60)
    worker, claimed = await own_world.claim_and_start(4_000)
    await worker.beat(*claimed)
    await own_world.admin.execute(
        "UPDATE weft.attempt_watch SET due_at = due_at + interval '1 day' "
        "WHERE batch_id = $1 AND job_id % 100 <> 0",
        batch,
    )
    epoch = await own_world.lead()
    rows, found = await read_by_call(
        own_world, "weft_driver", TABLES, "stop_overdue", epoch=epoch, limit_jobs=100,
        confirm_s=120.0, at=datetime.now(UTC) + timedelta(seconds=90),
    )  # fmt: skip

    assert len(rows) == 20
    assert [table for table, read in found.items() if read.scans] == []
    assert found["attempt_watch"].rows_by_index < 200
    assert found["job"].rows_by_index < 1_000
    await worker.end(*claimed)


async def test_look_at_all_jobs_reads_a_page_of_those_in_open_batches(own_world: World) -> None:
    """However many there are, whatever they wait for."""
    worker = await own_world.worker()
    await own_world.submit(2_000)
    await worker.run(2_000)
    batch = await own_world.submit(
        job_rows(2_000, parents={number: [1] for number in range(2, 1_001)})
    )
    await worker.start(*await worker.claim(200))
    await own_world.fold()
    epoch = await own_world.lead()
    connection = await own_world.connect("weft_driver")
    page = {"epoch": epoch, "from_batch": batch, "limit_jobs": 100}
    page["from_tenant"] = own_world.caller.tenant_id
    for after_job in (0, 900, 1_200, 1_900):
        async with reads(connection, *TABLES, "edge", "group_count", "runnable") as found:
            await call_on(connection, "patrol", after_job=after_job, **page)
        assert [table for table, read in found.items() if read.scans] == []
        assert found["group_count"].rows_by_index <= 5
        assert found["job"].rows_by_index <= 1_000


async def test_look_passes_over_jobs_that_have_ended(own_world: World) -> None:
    """A step looks at as many open jobs as it may, and reads twenty times as many others."""
    batch, worker = await own_world.submit_and_run(2_600, limit=2_500)
    for priority in (7, 8, 9):
        await own_world.submit(job_rows(1_001, priority=[priority] * 1_001))
        await worker.run(1_000)
    await own_world.fold()
    epoch = await own_world.lead()
    connection = await own_world.connect("weft_driver")
    page = {"epoch": epoch, "from_tenant": own_world.caller.tenant_id, "from_batch": batch}
    steps, after_job, n_live = 0, 0, 0
    async with reads(connection, *TABLES) as found:
        while step := (
            await call_on(connection, "patrol", after_job=after_job, limit_jobs=100, **page)
        )[0]["patrol"]:
            steps, after_job, n_live = steps + 1, step["job_id"], n_live + step["n_live"]
            page["from_batch"] = step["batch_id"]

    assert (steps, n_live) == (4, 103)
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 7_000
