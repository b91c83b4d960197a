"""What driver and api read when they look for schedules that are due."""

import pytest

from plans.test_plans import reads
from store.world import World
from weft.store.database import call_on

pytestmark = pytest.mark.slow
TABLES = ("schedule", "schedule_run")
_SCHEDULES = """
    WITH made AS (
        INSERT INTO weft.schedule (tenant_id, user_id, billing_project, cron, time_zone, missed,
            document, next_at, created_at, digest, project_id)
        SELECT $1, $2, 'default', '* * * * *', 'UTC', 'skip', '{}', now() + n * interval '1 hour',
            now(), '', p.project_id
        FROM generate_series(-9, 5000) n, weft.billing_project p
        WHERE p.tenant_id = $1 AND p.name = 'default' RETURNING schedule_id, tenant_id)
    INSERT INTO weft.schedule_run (schedule_id, due_at, tenant_id, ended_at, batch_id)
    SELECT schedule_id, now() - n * interval '1 hour', tenant_id, now(), schedule_id * 10 + n
    FROM made, generate_series(1, 3) n
"""


async def test_only_what_is_due_is_read(own_world: World) -> None:
    """However many schedules wait for later times, and runs have ended."""
    caller, epoch = own_world.caller, await own_world.lead()
    await own_world.admin.execute(_SCHEDULES, caller.tenant_id, caller.user_id)
    await own_world.admin.execute("ANALYZE weft.schedule, weft.schedule_run")
    driver, api = await own_world.connect("weft_driver"), await own_world.connect("weft_api")
    async with reads(driver, *TABLES) as by_driver:
        rows = await call_on(driver, "due_schedules", epoch=epoch, limit_rows=100)
        await call_on(driver, "schedules_due", epoch=epoch)
    async with reads(api, *TABLES) as by_api:
        await call_on(api, "take_schedule_runs", limit_rows=10, lease_s=1.0, besides=[])
        await call_on(api, "next_schedule_run", besides=[])

    assert len(rows) == 10
    for found in (by_driver, by_api):
        assert [table for table, read in found.items() if read.scans] == []
        assert max(read.rows_by_index for read in found.values()) < 100
