"""The loop that admits jobs waiting at gates, if the call that freed a place could not.

It also takes places back from admitted jobs that are not claimed while others could use them.
While the driver sleeps, its heartbeat reports these; otherwise the loop looks now and then.
"""

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import get_logger

log = get_logger()

PASS_JOBS_MAX = 1_000
"""Jobs per call: some ten milliseconds, so that a gate is never busy for long."""
LOOK_S = 3.0
"""How often it looks while the driver is awake."""


async def _run(context: LoopContext) -> None:
    while True:
        moved = 0
        while count := await context.store.sweep(
            "pass_gates", context.epoch, limit_jobs=PASS_JOBS_MAX
        ):
            moved += count
        if moved:
            log.debug("gates.passed", jobs=moved)
        while not await context.bell.heard(LOOK_S) and context.rest.is_asleep:
            pass


LOOP = Loop("gates", _run)
