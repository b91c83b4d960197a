"""Give the jobs of a group a new priority, range by range of job numbers."""

import asyncio
import random
from typing import Final

from weft.ports.store import DriverStore, Operation

STEP_JOBS: Final = 1_000
"""Jobs locked together in one step: some tens of milliseconds."""
BUSY_S: Final = 0.02
"""Pause after another transaction held rows of this step: they will soon be free."""


async def step(store: DriverStore, epoch: int, operation: Operation) -> bool:
    """Change the next jobs; return False while an earlier change of the batch is running."""
    verdict = await store.step("set_priorities", epoch, operation.operation_id, limit=STEP_JOBS)
    if verdict == "busy":
        await asyncio.sleep(random.uniform(0, BUSY_S))  # noqa: S311 (jitter)
    return verdict != "waits"
