"""A new priority for the jobs of a group, range by range of their numbers: each step is short."""

import asyncio
import random
from typing import Final

from weft.ports.store import Operation
from weft.store.database import Database

STEP_JOBS: Final = 1_000
"""Jobs of one step are locked together: some tens of milliseconds."""
BUSY_S: Final = 0.02
"""Somebody had rows of the step: a call later they are free."""


async def set_priorities(database: Database, epoch: int, operation: Operation) -> bool:
    """Give it to the next jobs; False: an earlier change of the same batch comes first."""
    outcome = await database.value(
        "set_priorities",
        epoch=epoch,
        of_operation_id=operation.operation_id,
        limit_jobs=STEP_JOBS,
    )
    if outcome == "busy":
        await asyncio.sleep(random.uniform(0, BUSY_S))  # noqa: S311 (jitter)
    return bool(outcome != "waits")
