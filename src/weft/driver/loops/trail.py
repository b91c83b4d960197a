"""The loop that seals the trail: it numbers what is committed, in a chain of digests."""

from weft.driver.loops.loop import Loop, LoopContext
from weft.telemetry import metrics

PASS_ENTRIES_MAX = 500
"""Per call: some ten milliseconds."""


async def _run(context: LoopContext) -> None:
    while True:
        n = await context.sweep_all("seal_trail", limit_jobs=PASS_ENTRIES_MAX)
        metrics.TRAIL_SEALED.inc(n)
        await context.bell.heard()


LOOP = Loop("trail", _run)
