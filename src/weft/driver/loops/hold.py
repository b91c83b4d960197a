"""The loop that parks ready jobs of held groups, and lists those of released groups."""

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry.log import log

SWEEP_JOBS_MAX = 2_000
"""Jobs per call: some ten milliseconds, so that their rows are not locked for long."""


async def _run(context: LoopContext) -> None:
    while True:
        if swept := await context.sweep_all("sweep_holds", limit_jobs=SWEEP_JOBS_MAX):
            log.info("holds.swept", jobs=swept)
        await context.bell.heard()


LOOP = Loop("hold", _run)
