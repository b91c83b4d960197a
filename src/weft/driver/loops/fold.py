"""The loop that folds deltas into sums and settles completions."""

import asyncio
import time

from weft.core.loop_periods import next_fold_period_s
from weft.driver.loops.loop import Loop, LoopContext
from weft.faults import fault_point
from weft.telemetry import metrics

FIRST_S = 0.02
"""An event that wakes the fold usually also starts a job: the job goes first."""
_after_fold = fault_point("driver.after_fold")


async def _run(context: LoopContext) -> None:
    """Fold soon after a wake-up, then with a pause while there are deltas, then sleep.

    While the fold is awake no notices are sent, so each pass names the other loops with work.
    """
    pause_s = 0.0
    while True:
        begun = time.monotonic()
        folded = await context.store.fold_deltas(context.epoch)
        if folded.deltas:
            _after_fold()
        metrics.DELTAS_FOLDED.inc(folded.deltas)
        context.ring(folded.loops)
        if folded.deltas > 0:
            context.moved()
        elif await context.store.idle_driver(context.epoch):
            await _sleep(context)
            pause_s = 0.0
            continue
        took_s = time.monotonic() - begun
        pause_s = next_fold_period_s(pause_s, deltas=folded.deltas, took_s=took_s)
        await asyncio.sleep(pause_s)


async def _sleep(context: LoopContext) -> None:
    context.rest.is_asleep = True
    try:
        await context.bell.heard()
        await asyncio.sleep(FIRST_S)
    finally:
        context.rest.is_asleep = False


LOOP = Loop("fold", _run, after=("settle", "cancel", "operate"))
