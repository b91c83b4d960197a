"""The part of `DriverStore` that goes on with operations, one bounded step at a time."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from weft.core.errors import WeftError
from weft.ports.store import Operation
from weft.store.batch_removal import remove_batch
from weft.store.database import Database
from weft.store.priorities import set_priorities
from weft.store.set_filling import fill_set

PAGE_OPERATIONS = 100
Step = Callable[[Database, int, Operation], Awaitable[bool]]


class Operations:
    """What a driver asks about operations. The methods are documented at the port."""

    _database: Database

    async def running_operations(self, epoch: int, above_id: int = 0) -> Sequence[Operation]:
        """Return what there is to do, a page."""
        rows = await self._database.call(
            "running_operations", epoch=epoch, above_id=above_id, limit_operations=PAGE_OPERATIONS
        )
        return [Operation(**row) for row in rows]

    async def advance_operation(self, epoch: int, operation: Operation) -> bool:
        """Do one step."""
        step = STEPS.get(operation.kind)
        if step is None:
            raise WeftError(
                f"this driver cannot do {operation.kind!r}",
                detail="The operation was begun by a newer weft.",
                hint="Start a driver of that version, then ask for it again.",
            )
        return await step(self._database, epoch, operation)

    async def fail_operation(
        self, epoch: int, operation_id: int, problem: Mapping[str, Any]
    ) -> None:
        """End it with an error."""
        await self._database.call(
            "fail_operation", epoch=epoch, of_operation_id=operation_id, error=dict(problem)
        )


STEPS: Final[Mapping[str, Step]] = {
    "delete_batch": remove_batch,
    "fill_set": fill_set,
    "set_priority": set_priorities,
}
"""By kind of operation. A step is safe to repeat: the driver may die between any two."""
