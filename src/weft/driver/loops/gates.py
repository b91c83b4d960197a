"""The loop that admits jobs waiting at gates, if the call that freed a place could not.

It also opens gates at their dates, and takes places back from admitted jobs that are not claimed
while others could use them. It waits for its bell: notices ring it, and the next of these dates,
which it asks for after each pass and the leader's heartbeats move.
"""

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import get_logger

log = get_logger()

PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that a gate is never busy for long."""
LATE_S = 0.01
"""The bell rings this long after the date, so that the database agrees that it has passed."""
RETRY_S = 0.25
"""The pause before another pass if work is left because rows are locked."""


async def _run(context: LoopContext) -> None:
    while True:
        moved = 0
        while count := await context.store.sweep(
            "pass_gates", context.epoch, limit_jobs=PASS_JOBS_MAX
        ):
            moved += count
        if moved:
            log.debug("gates.passed", jobs=moved)
        due_in_s = await context.store.gates_due(context.epoch)
        if due_in_s is not None:
            due_in_s = due_in_s + LATE_S if due_in_s > 0 else RETRY_S
        context.bell.ring_in(due_in_s)
        await context.bell.heard()


LOOP = Loop("gates", _run)
