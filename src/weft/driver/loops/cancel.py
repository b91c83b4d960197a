"""The loop that settles the jobs of cancelled groups, in bounded sets."""

import asyncio
import time

from weft.core.loop_periods import sweep_pause_s
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics
from weft.telemetry.log import log

SWEEP_JOBS_MAX = 5_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""


async def _run(context: LoopContext) -> None:
    while True:
        swept, begun = 0, time.monotonic()
        while count := await context.store.sweep(
            "sweep_cancelled", context.epoch, limit_jobs=SWEEP_JOBS_MAX
        ):
            swept += count
            metrics.JOBS_SWEPT.inc(count)
            context.moved()
            await asyncio.sleep(sweep_pause_s(count, took_s=time.monotonic() - begun))
            begun = time.monotonic()
        if swept:
            log.info("jobs.swept", jobs=swept)
        await context.bell.heard()


LOOP = Loop("cancel", _run)
