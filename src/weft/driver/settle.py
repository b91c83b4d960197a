"""The loop that tells children of their parents' ends, where the report of an end could not.

A report leaves to it a job with very many children, and a child with very many parents; a sweep
the children of what it has cancelled. It does not pause while there are children to tell: jobs
wait for it. While it only counts ends, it takes those of a moment together.
"""

import asyncio
from collections.abc import Callable

from weft.driver.bell import Bell
from weft.ports.store import DriverStore

CHILDREN_MAX = 5_000
"""Children of one call: some ten milliseconds, so that nobody waits long for their rows, and the
first of 100,000 neighbours can be claimed while the others are told."""
CROWDED_MAX = 1_000
"""Children with many parents, of which the ends are counted in one call."""
COUNT_PAUSE_S = 0.02
"""Near the last one of many parents each report rings, hundreds a second from many workers."""


async def run_settle(
    store: DriverStore, epoch: int, bell: Bell, *, after_pass: Callable[[], None]
) -> None:
    """Settle until nothing is left, then wait for the bell; until cancelled."""
    while True:
        counted = await store.count_parent_ends(epoch, CROWDED_MAX)
        if await store.settle_children(epoch, CHILDREN_MAX):
            after_pass()
            continue
        if counted:
            await asyncio.sleep(COUNT_PAUSE_S)
        await bell.heard()
