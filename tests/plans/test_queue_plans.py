"""Jobs that move to another queue are found by their keys, however many wait."""

import pytest

from plans.test_plans import reads
from store.world import World
from weft.core.queues import Queue
from weft.store.database import call_on

pytestmark = pytest.mark.slow
N_JOBS = 20_000
TABLES = ("job", "attempt", "ready_job", "batch_update", "job_label")


async def test_only_the_page_and_what_moves_are_read(own_world: World) -> None:
    await own_world.api.save_queues(
        own_world.caller,
        [Queue(name="to", priority=1, pools=(own_world.pool,)), Queue(name="default")],
    )
    batch = await own_world.submit(N_JOBS)
    await own_world.admin.execute("ANALYZE weft.job, weft.batch, weft.batch_update")
    of = {"tenant_id": own_world.caller.tenant_id}
    asked = {"queue": "to", "pool": own_world.pool}
    for function, arguments in (
        ("list_waiting", {"after_batch": 0, "after_job": 0, "limit_jobs": 100}),
        (
            "move_jobs",
            {"batch_id": batch, "job_ids": list(range(101, 201)), "asked": asked, "actor": "x"},
        ),
    ):
        connection = await own_world.connect("weft_api")
        async with reads(connection, *TABLES) as found:
            assert await call_on(connection, function, **of, **arguments)
        await connection.close()

        assert {table: one.scans for table, one in found.items() if one.scans} == {}, function
        assert found["job"].rows_by_index <= 1000, function
