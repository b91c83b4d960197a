"""The loop that ends the attempts of silent workers."""

import asyncio
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from weft.core.reaper_timer import first_look_s
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

SLOW_S = 1.0
"""A database that takes longer to answer was unavailable for the workers as well."""


async def _run(context: LoopContext) -> None:
    """Wait for the date at which the next worker would be lost.

    Heartbeats of the workers move that date in the database, and those of the leader bring it
    here: it passes while the leader is busy, or when a worker is really silent. While the database
    is unavailable all workers are silent, so the first look of a term, and the one after a slow
    answer, are delayed.
    """
    grace_s = context.settings.lost_after_s
    while True:
        await asyncio.sleep(first_look_s(grace_s))
        async for _ in _steady_looks(context, grace_s=grace_s):
            for lost in await context.store.lose_workers(context.epoch, grace_s):
                metrics.WORKERS_LOST.inc()
                log.warning(
                    "worker.lost", worker=lost["worker"], attempts=lost["n_attempts"],
                    silent_s=round(lost["silent_s"], 1),
                )  # fmt: skip


async def _steady_looks(context: LoopContext, *, grace_s: float) -> AsyncIterator[None]:
    """Yield whenever a worker is due, until the database does not answer at once."""
    while True:
        asked_at = time.monotonic()
        due_at = await context.store.next_due(context.epoch, grace_s)
        context.due.move(due_at)
        if time.monotonic() - asked_at > SLOW_S:
            return
        if due_at is not None and due_at <= datetime.now(UTC):
            yield
        await context.due.passed(longest_s=grace_s)


LOOP = Loop("reaper", _run)
