"""The loop that keeps workers for large jobs that have waited long (`core/pools/keep.py`).

After folds it looks for such jobs. While there are any it looks again by itself.
"""

import asyncio
import time

import msgspec

from weft.core.pools.keep import LongWaiting, Room, fill_gaps, keep_workers
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import log

LONGEST_S = 10.0
"""Between two looks while there is activity."""


async def _run(context: LoopContext) -> None:
    after_s = context.settings.reserve_after_s
    every_s = min(max(after_s / 4, 1.0), LONGEST_S)
    while True:
        begun = time.monotonic()
        is_waiting = await keep(context, after_s)
        await context.bell.heard(every_s if is_waiting else None)
        await asyncio.sleep(max(0.0, begun + every_s - time.monotonic()))


async def keep(context: LoopContext, after_s: float) -> bool:
    """Decide once for every pool; return whether there are jobs that have waited long."""
    rows = await context.store.reserve_rounds(context.epoch, after_s=after_s)
    for row in rows:
        jobs = msgspec.convert(row["jobs"], list[LongWaiting])
        workers = msgspec.convert(row["workers"], list[Room])
        kept = keep_workers(jobs, workers, after_s=after_s)
        told = [*kept, *fill_gaps(workers)]
        if told and await context.store.add_reservations(context.epoch, told):
            for one in kept:
                log.info(
                    "worker.kept",
                    incarnation=one.incarnation_id,
                    batch_id=one.batch_id,
                    job_id=one.job_id,
                )
    return bool(rows)


LOOP = Loop("reserve", _run, after=("fold",))
