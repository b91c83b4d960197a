"""The loop that makes blocked jobs ready again when their dates come.

It waits for its bell: a transaction that blocks jobs rings it, and the next of the dates, which it
asks for after each pass.
"""

from weft.driver.loops.gates import LATE_S, RETRY_S
from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import get_logger

log = get_logger()

PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""


async def _run(context: LoopContext) -> None:
    while True:
        released = 0
        while count := await context.store.sweep(
            "release_blocked", context.epoch, limit_jobs=PASS_JOBS_MAX
        ):
            released += count
        if released:
            context.moved()
            log.debug("jobs.released", jobs=released)
        due_in_s = await context.store.recovery_due(context.epoch)
        if due_in_s is not None:
            due_in_s = due_in_s + LATE_S if due_in_s > 0 else RETRY_S
        context.bell.ring_in(due_in_s)
        await context.bell.heard()


LOOP = Loop("recovery", _run)
