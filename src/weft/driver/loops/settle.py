"""The loop that applies parents' ends to their children, where the report of an end did not.

A report leaves jobs with very many children, and children with very many parents, to this loop; a
sweep leaves it the children of jobs that it has cancelled. The loop does not pause while there are
children to update: jobs wait for it. While it only counts ends, it collects them for a moment.
"""

import asyncio

from weft.driver.loops.loop import Loop, LoopContext

CHILDREN_MAX = 5_000
"""Children per call: some ten milliseconds, so that their rows are not locked for long, and the
first of 100,000 neighbours can be claimed while the others are updated."""
CROWDED_MAX = 1_000
"""Children with many parents whose ends are counted in one call."""
COUNT_PAUSE_S = 0.02
"""Near the last of many parents each report rings: hundreds a second from many workers."""


async def _run(context: LoopContext) -> None:
    store, epoch = context.store, context.epoch
    while True:
        counted = await store.sweep("count_parent_ends", epoch, limit_jobs=CROWDED_MAX)
        if await store.sweep("settle_children", epoch, limit_jobs=CHILDREN_MAX):
            context.moved()
            continue
        if counted:
            await asyncio.sleep(COUNT_PAUSE_S)
        await context.bell.heard()


LOOP = Loop("settle", _run, after=("cancel", "deadlines"))  # what they end may have children
