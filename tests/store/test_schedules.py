"""Schedules that are due: each gets one run, whichever driver finds it, and its next date."""

import asyncio
from datetime import UTC, datetime, timedelta

from store.site import Site
from store.world import World
from weft.ports.store import UNKEYED, DueSchedule, NewSchedule, ScheduleMove

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


MANY = 1000


async def add_schedule(site: Site, *, due_in_s: float = 3600) -> int:
    """Make a schedule of the caller that is due in this time."""
    new = NewSchedule(
        name="nightly",
        cron="0 2 * * *",
        document='{"jobs": [{"command": ["true"]}]}',
        next_at=datetime.now(UTC) + timedelta(seconds=due_in_s),
    )
    schedule_id, _ = await site.api.add_schedule(site.caller, new, UNKEYED, schedules_max=MANY)
    return schedule_id


async def due_schedule(site: Site, schedule_id: int) -> DueSchedule | None:
    """Return what the driver is told of a schedule; None: it is not due."""
    found = await site.driver.due_schedules(await site.lead(), limit=MANY)
    return next((one for one in found if one.schedule_id == schedule_id), None)


async def begin_runs(site: Site, schedule_id: int, n_runs: int = 1) -> ScheduleMove:
    """Let the driver give a schedule that is due its runs, and a date in an hour."""
    due = await due_schedule(site, schedule_id)
    assert due is not None
    runs = [due.next_at + timedelta(seconds=n) for n in range(n_runs)]
    move = ScheduleMove(schedule_id, due.next_at, due.now + timedelta(hours=1), 3, runs)
    assert await site.driver.begin_schedule_runs(await site.lead(), [move]) == n_runs
    return move


async def test_schedule_that_is_due_moves_on_once(site: Site) -> None:
    """Its runs are there once; it is due again when they have ended. A notice tells apis."""
    schedule_id = await add_schedule(site, due_in_s=-60)
    epoch = await site.lead()
    assert (await site.driver.loop_due(epoch, "schedules") or 0) < 0
    moves = []

    async def begin() -> None:
        moves.append(await begin_runs(site, schedule_id, 2))

    await site.notice("schedules", after=begin)
    assert await site.driver.begin_schedule_runs(epoch, moves) == 0
    due = await site.driver.due_schedules(epoch, limit=MANY)
    assert schedule_id not in {one.schedule_id for one in due}
    found = await site.api.get_schedule(site.caller, schedule_id)
    assert (len(found["runs"]), found["n_missed"]) == (2, 3)
    assert datetime.fromisoformat(found["next_at"]) == moves[0].next_at
    past = {"next_at": datetime.now(UTC).isoformat()}
    await site.api.change_schedule(site.caller, schedule_id, past)
    for due_at in moves[0].runs:
        assert await due_schedule(site, schedule_id) is None
        await site.api.end_schedule_run(
            site.caller, schedule_id, due_at, batch_id=round(due_at.timestamp())
        )
    assert await due_schedule(site, schedule_id) is not None
    await site.api.delete_schedule(site.caller, schedule_id)


async def test_schedule_that_is_never_due_again_is_paused(site: Site) -> None:
    """It says that it is over."""
    schedule_id = await add_schedule(site, due_in_s=-60)
    due = await due_schedule(site, schedule_id)
    assert due is not None
    move = ScheduleMove(schedule_id, due.next_at, None, 0, [due.next_at])
    await site.driver.begin_schedule_runs(await site.lead(), [move])
    found = await site.api.get_schedule(site.caller, schedule_id)
    assert (found["state"], found["pause_reason"]) == ("paused", "over")
