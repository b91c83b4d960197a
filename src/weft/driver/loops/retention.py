"""The loop that removes old data: events and entries of the trail past retention, updates never
committed, output and files that are kept no longer.
"""

import asyncio
import time

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import log

EVERY_S = 600.0
TRAIL_ROWS_MAX = 2000
"""Per call: some ten milliseconds."""
OUTPUTS_MAX = 20
"""Batches per call: what each has stored is added up."""


async def _run(context: LoopContext) -> None:
    """Look now and then while there is activity; idle days leave nothing new to remove."""
    settings = context.settings
    looked_at = -EVERY_S
    while True:
        await context.bell.heard()
        await asyncio.sleep(max(0.0, looked_at + EVERY_S - time.monotonic()))
        removed = 0
        while count := await context.store.remove_old(
            context.epoch,
            events_keep_s=settings.events_keep_s,
            updates_keep_s=settings.updates_keep_s,
        ):
            removed += count
        while settings.trail_keep_s and (
            count := await context.store.trim_trail(
                context.epoch, keep_s=settings.trail_keep_s, limit=TRAIL_ROWS_MAX
            )
        ):
            removed += count
        n_batches = 0
        while count := await context.store.remove_outputs(context.epoch, limit=OUTPUTS_MAX):
            n_batches += count
        looked_at = time.monotonic()
        if n_batches:
            log.info("retention.outputs_removed", batches=n_batches)
        if removed:
            log.info("retention.removed", rows=removed)


LOOP = Loop("retention", _run, after=("fold",))
