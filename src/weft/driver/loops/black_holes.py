"""The loop that cordons workers on which attempts fail at once, and lets them try one job later.

The fold rings it after failures. It looks at the newest ends only, and waits for its bell again;
the dates of tries ring it, and the end of a try.
"""

import asyncio

from weft.core.errors import WorkerEnded
from weft.core.scheduling.black_holes import Ends, Outcome, find_black_holes, retry_s
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics
from weft.telemetry.log import log

GAP_S = 2.0
"""Between two looks at least, while attempts fail all the time."""
WINDOW_S = 600.0
"""Older ends say nothing about a worker."""
EVENTS_MAX = 2_000
"""Newest events per look, which takes some ten milliseconds."""


async def _run(context: LoopContext) -> None:
    while True:
        await _find(context)
        await context.bell.heard_by(await _follow_tries(context))
        await asyncio.sleep(GAP_S)


async def _find(context: LoopContext) -> None:
    settings = context.settings
    if not settings.black_hole_failures:
        return
    rows = await context.store.recent_ends(
        context.epoch,
        window_s=WINDOW_S,
        fast_s=settings.black_hole_fast_s,
        limit_events=EVENTS_MAX,
    )
    for hole in find_black_holes(
        [Ends(**row) for row in rows],
        failures_min=settings.black_hole_failures,
        batches_min=settings.black_hole_batches,
    ):
        wait_s = retry_s(0, first_s=settings.black_hole_retry_s)
        if await _move(context, hole.worker_id, "cordon", hole.reason, wait_s):
            metrics.BLACK_HOLES.inc()


async def _follow_tries(context: LoopContext) -> float | None:
    """Let workers try a job whose time has come, and look at how their tries ended. Return in how
    many seconds the next try is due.
    """
    first_s = context.settings.black_hole_retry_s
    dues = []
    for hole in await context.store.black_holes(context.epoch):
        outcome: Outcome = hole["outcome"]
        n_tries = hole["n_tries"]
        if hole["due_in_s"] is None:
            continue
        if outcome == "success":
            await _move(
                context, hole["worker_id"], "uncordon", "the job that it tried succeeded", 0
            )
        elif outcome != "none":
            wait_s = retry_s(n_tries + 1, first_s=first_s)
            reason = f"the job that it tried failed as well; it tries another in {wait_s:g} s"
            await _move(context, hole["worker_id"], "wait", reason, wait_s)
            dues.append(wait_s)
        elif hole["due_in_s"] > 0:
            dues.append(hole["due_in_s"])
        else:
            wait_s = retry_s(n_tries, first_s=first_s)
            await _move(context, hole["worker_id"], "try", "it tries one job", wait_s)
    return min(dues, default=None)


async def _move(
    context: LoopContext, worker_id: int, decision: str, reason: str, wait_s: float
) -> bool:
    try:
        moved = await context.store.move_black_hole(
            context.epoch, worker_id, decision, reason, retry_s=wait_s
        )
    except WorkerEnded:  # just now
        return False
    if moved is None:
        return False
    log.warning("worker.black_hole", worker=moved, kind=decision, why=reason)
    return True


LOOP = Loop("black_holes", _run)
