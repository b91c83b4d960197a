"""The loop that makes blocked jobs ready again when their dates come.

It waits for its bell: a transaction that blocks jobs rings it, and the next of the dates, which it
asks for after each pass.
"""

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import log

PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""


async def _run(context: LoopContext) -> None:
    while True:
        if released := await context.sweep_all("release_blocked", limit_jobs=PASS_JOBS_MAX):
            context.moved()
            log.debug("jobs.released", jobs=released)
        await context.bell.heard_by(await context.store.recovery_due(context.epoch))


LOOP = Loop("recovery", _run)
