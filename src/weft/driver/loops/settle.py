"""The loop that tells children of their parents' ends, where the report of an end could not.

A report leaves to it a job with very many children, and a child with very many parents; a sweep
leaves to it the children of what it has cancelled. It does not pause while there are children to
tell: jobs wait for it. While it only counts ends, it takes those of a moment together.
"""

import asyncio

from weft.driver.loops.loop import Loop, LoopContext

CHILDREN_MAX = 5_000
"""Children per call: some ten milliseconds, so that nobody waits long for their rows, and the
first of 100,000 neighbours can be claimed while the others are told."""
CROWDED_MAX = 1_000
"""Children with many parents whose ends are counted in one call."""
COUNT_PAUSE_S = 0.02
"""Near the last one of many parents each report rings, hundreds a second from many workers."""


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


LOOP = Loop("settle", _run, after=("cancel",))  # cancelled jobs may have children
