"""The loop that ends jobs that cannot end by their deadline, and stops those that run at it.

It waits for its bell: a commit rings it, and the next of the dates, which it asks for after each
pass.
"""

from weft.driver.loops.gates import LATE_S, RETRY_S
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import get_logger

log = get_logger()

PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""


async def _run(context: LoopContext) -> None:
    while True:
        examined = 0
        while count := await context.store.sweep(
            "sweep_deadlines", context.epoch, limit_jobs=PASS_JOBS_MAX
        ):
            examined += count
        if examined:
            context.moved()
            log.debug("deadlines.passed", jobs=examined)
        due_in_s = await context.store.deadlines_due(context.epoch)
        if due_in_s is not None:
            due_in_s = due_in_s + LATE_S if due_in_s > 0 else RETRY_S
        context.bell.ring_in(due_in_s)
        await context.bell.heard()


LOOP = Loop("deadlines", _run)
