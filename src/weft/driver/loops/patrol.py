"""The loop that looks at all jobs that have not ended, whether each is with somebody.

A job that is with nobody would wait for ever, and nothing else would tell. Such a job is a defect
of weft, so nothing is repaired here: a person must see it.
Jobs that have been ready or blocked for longer than their queue allows end here, too.
While jobs are there, it looks now and then, in small steps with pauses; without any it sleeps
until the next fold.
"""

import asyncio
import time

from weft.core.ids import format_batch_id, format_job_ref
from weft.driver.loops.loop import Loop, LoopContext
from weft.ports.store import Patrolled, Position
from weft.telemetry import metrics
from weft.telemetry.log import log

STEP_JOBS_MAX = 1_000
PAUSE_PER_STEP = 20
"""How much longer than a step the pause after it is: a twentieth of a core at most."""
HINT = "See `weft audit` and `weft why`; `weft cancel` ends such a job. Please report the defect."


async def _run(context: LoopContext) -> None:
    while True:
        looked_at = time.monotonic()
        n_live = await _look(context)
        if not n_live:
            await context.bell.heard()
        await asyncio.sleep(looked_at + context.settings.patrol_every_s - time.monotonic())


async def _look(context: LoopContext) -> int:
    """Look at each job once; return how many have not ended."""
    position, n_live, n_orphans = Position(), 0, 0
    began_at = time.monotonic()
    while found := await context.store.patrol(context.epoch, position, limit_jobs=STEP_JOBS_MAX):
        _tell(found)
        if found.ended:
            context.moved()
        n_live += found.n_live
        n_orphans += len(found.orphans)
        position = found.position
        await asyncio.sleep(PAUSE_PER_STEP * (time.monotonic() - began_at))
        began_at = time.monotonic()
    metrics.ORPHANED_JOBS.set(n_orphans)
    return n_live


def _tell(found: Patrolled) -> None:
    for row in found.ended:
        metrics.JOBS_OVERDUE.inc(row["n_jobs"])
        log.warning(
            "jobs.overdue",
            batch=format_batch_id(row["batch_id"]),
            jobs=row["n_jobs"],
            message=row["message"],
        )
    if found.orphans:
        first = found.orphans[0]
        log.error(
            "jobs.orphaned",
            jobs=len(found.orphans),
            job_state=first["state"],
            job=format_job_ref(first["batch_id"], first["job_id"]),
            hint=HINT,
        )


LOOP = Loop("patrol", _run, after=("fold",))
