"""Remove the rows of a deleted batch, some at a time."""

from typing import Final

from weft.driver.operations.signed_copies import Keys
from weft.ports.store import Operation
from weft.store import DriverStore

STEP_ROWS: Final = 5_000
"""Rows per step: some ten milliseconds."""


async def step(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Remove some rows; return False while jobs of the batch still have to end."""
    verdict = await store.step("remove_batch", epoch, operation.operation_id, limit=STEP_ROWS)
    return verdict != "waits"
