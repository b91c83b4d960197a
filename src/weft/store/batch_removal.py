"""Removing the rows of a deleted batch: each step is short."""

from typing import Final

from weft.ports.store import Operation
from weft.store.database import Database

STEP_ROWS: Final = 5_000
"""Rows of one step: some ten milliseconds."""


async def remove_batch(database: Database, epoch: int, operation: Operation) -> bool:
    """Remove some rows; return whether there was something to do, or it waits for jobs to end."""
    return bool(
        await database.value(
            "remove_batch",
            epoch=epoch,
            of_operation_id=operation.operation_id,
            limit_rows=STEP_ROWS,
        )
    )
