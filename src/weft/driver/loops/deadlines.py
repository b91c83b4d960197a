"""The loop that ends jobs that cannot end by their deadline, and stops those that run at it.

It waits for its bell: a commit rings it, and the next of the dates, which it asks for after each
pass.
"""

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import log

PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""


async def _run(context: LoopContext) -> None:
    while True:
        if examined := await context.sweep_all("sweep_deadlines", limit_jobs=PASS_JOBS_MAX):
            context.moved()
            log.debug("deadlines.passed", jobs=examined)
        await context.bell.heard_by(await context.store.deadlines_due(context.epoch))


LOOP = Loop("deadlines", _run)
