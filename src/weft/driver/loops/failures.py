"""The loop that adds up why jobs failed.

Readers add what is not added up yet, so only the number of rows that they read depends on it.
"""

from weft.driver.loops.loop import Loop, LoopContext

PASS_DELTAS_MAX = 5_000
"""Per call: some ten milliseconds."""


async def _run(context: LoopContext) -> None:
    while True:
        await context.sweep_all("fold_failures", limit_jobs=PASS_DELTAS_MAX)
        await context.bell.heard()


LOOP = Loop("failures", _run)
