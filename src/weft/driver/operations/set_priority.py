"""Give the jobs of a group a new priority, range by range of job numbers."""

from typing import Final

from weft.driver.operations.fill_set import until_rows_are_free
from weft.driver.operations.signed_copies import Keys
from weft.ports.store import Operation
from weft.store import DriverStore

STEP_JOBS: Final = 1_000
"""Jobs locked together in one step: some tens of milliseconds."""


async def step(store: DriverStore, epoch: int, operation: Operation, _keys: Keys) -> bool:
    """Change the next jobs; return False while an earlier change of the batch is running."""
    verdict = await store.step("set_priorities", epoch, operation.operation_id, limit=STEP_JOBS)
    if verdict == "busy":
        await until_rows_are_free()
    return verdict != "waits"
