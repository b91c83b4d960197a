"""The loop that gives schedules their runs when they are due. An api submits them.

It waits for its bell: a new or changed schedule rings it, and the end of a run that another one
waits for, and the next of the dates, which it asks for after each pass.
"""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from weft.core.schedules import plan_runs, zone_of
from weft.core.settling import settle_each
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store import DueSchedule, ScheduleMove
from weft.settings import Settings
from weft.telemetry import metrics
from weft.telemetry.log import log

PASS_SCHEDULES_MAX = 100
"""Schedules per call: each takes a millisecond, and more only after an outage."""
_PUT_OFF = timedelta(hours=1)


async def _run(context: LoopContext) -> None:
    while True:
        while due := await context.store.due_schedules(context.epoch, limit=PASS_SCHEDULES_MAX):
            await settle_each(due, partial(_move, context), partial(_put_off, context))
        await context.bell.heard_by(await context.store.loop_due(context.epoch, "schedules"))


async def _move(context: LoopContext, due: Sequence[DueSchedule]) -> None:
    moves = [move_of(one, context.settings) for one in due]
    runs = await context.store.begin_schedule_runs(context.epoch, moves)
    missed = sum(move.n_missed for move in moves)
    metrics.SCHEDULES_MISSED.inc(missed)
    log.info("schedules.moved", schedules=len(moves), runs=runs, missed=missed)


async def _put_off(context: LoopContext, one: DueSchedule, error: Exception) -> None:
    """Let a schedule wait that cannot be moved, so that the others have their runs."""
    log.error("schedules.put_off", schedule=one.schedule_id, exc_info=error)
    later = ScheduleMove(one.schedule_id, one.next_at, one.now + _PUT_OFF, 0, ())
    await context.store.begin_schedule_runs(context.epoch, [later])


def move_of(one: DueSchedule, settings: Settings) -> ScheduleMove:
    """Decide what happens to a schedule that is due."""
    plan = plan_runs(
        one.cron,
        zone_of(one.time_zone),
        one.missed,
        next_at=one.next_at,
        now=one.now,
        late_s=settings.schedule_late_s,
        runs_max=settings.schedule_missed_max,
    )
    return ScheduleMove(one.schedule_id, one.next_at, plan.next_at, plan.n_missed, plan.runs)


LOOP = Loop("schedules", _run)
