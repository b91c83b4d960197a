"""The loop that ends the attempts of silent workers."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

from weft.core.loop_periods import first_look_s
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics
from weft.telemetry.log import log

SLOW_S = 1.0
"""A database that takes longer to answer was unavailable for the workers as well; so was one on a
host that was suspended for longer."""


async def _run(context: LoopContext) -> None:
    """Wait for the date at which the next worker would be lost.

    Heartbeats of the workers move that date in the database, and those of the leader bring it
    here: it passes while the leader is busy, or when a worker is really silent. While the database
    is unavailable all workers are silent, so the first look of a term, and those after a slow
    answer or a suspension of this host, are delayed.
    """
    grace_s = context.settings.lost_after_s
    while True:
        suspended_s = _suspended_s()
        await asyncio.sleep(first_look_s(grace_s))
        async for _ in _steady_looks(context, grace_s=grace_s, suspended_s=suspended_s):
            for lost in await context.store.lose_workers(context.epoch, grace_s):
                metrics.WORKERS_LOST.inc()
                log.warning(
                    "worker.lost",
                    worker=lost["worker"],
                    attempts=lost["n_attempts"],
                    silent_s=round(lost["silent_s"], 1),
                )


async def _steady_looks(
    context: LoopContext, *, grace_s: float, suspended_s: float
) -> AsyncIterator[None]:
    """Yield whenever a worker is due, until the database does not answer at once or this host was
    suspended for longer than `suspended_s` in all.
    """
    while True:
        asked_at = time.monotonic()
        due_s = await context.store.loop_due(context.epoch, "reaper", grace_s=grace_s)
        due_at = None if due_s is None else datetime.now(UTC) + timedelta(seconds=due_s)
        context.due.move(due_at)
        if max(time.monotonic() - asked_at, _suspended_s() - suspended_s) > SLOW_S:
            return
        if due_at is not None and due_at <= datetime.now(UTC):
            yield
        await context.due.passed(longest_s=grace_s)


def _suspended_s() -> float:
    """Return how long this host has been suspended since it booted."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()


LOOP = Loop("reaper", _run)
