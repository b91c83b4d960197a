"""The loop that tells children of their parents' ends, where the report of an end could not.

A report leaves to it a job with very many children, and a child with very many parents; a sweep
the children of what it has cancelled. It does not pause: jobs wait for it.
"""

from collections.abc import Callable

from weft.driver.bell import Bell
from weft.ports.store import DriverStore

CHILDREN_MAX = 5_000
"""Children of one call: some ten milliseconds, so that nobody waits long for their rows."""
CROWDED_MAX = 1_000
"""Children with many parents, of which the ends are counted in one call."""


async def run_settle(
    store: DriverStore, epoch: int, bell: Bell, *, after_pass: Callable[[], None]
) -> None:
    """Settle until nothing is left, then wait for the bell; until cancelled."""
    while True:
        await store.count_parent_ends(epoch, CROWDED_MAX)
        if await store.settle_children(epoch, CHILDREN_MAX):
            after_pass()
        else:
            await bell.heard()
