"""Two drivers that find one schedule due: it moves once, and gets one run."""

import asyncio
from datetime import timedelta

from store.world import World
from weft.ports.store import ScheduleMove

ADD = """
    INSERT INTO weft.schedule (tenant_id, user_id, billing_project, cron, time_zone, missed,
        document, next_at, created_at, digest, project_id)
    SELECT $1, $2, 'default', '* * * * *', 'UTC', 'all', '{}', now() - interval '1 minute',
        now(), '', project_id
    FROM weft.billing_project WHERE tenant_id = $1 AND name = 'default'
    RETURNING schedule_id, next_at
"""
RUNS = "SELECT count(*) FROM weft.schedule_run WHERE schedule_id = $1"


async def move_of_new_schedule(world: World) -> ScheduleMove:
    row = await world.admin.fetchrow(ADD, world.caller.tenant_id, world.caller.user_id)
    due_at = row["next_at"]
    next_at = due_at + timedelta(days=1)
    return ScheduleMove(row["schedule_id"], due_at, next_at, 0, [due_at])


async def test_drivers_at_once_give_one_run(world: World) -> None:
    """As when one was stopped between the look and the call, and another one leads now."""
    move, epoch = await move_of_new_schedule(world), await world.lead()
    begun = await asyncio.gather(
        *(world.driver.begin_schedule_runs(epoch, [move]) for _ in range(4))
    )
    again = await world.driver.begin_schedule_runs(epoch, [move])

    assert sorted(begun) == [0, 0, 0, 1]
    assert again == 0
    assert await world.admin.fetchval(RUNS, move.schedule_id) == 1
