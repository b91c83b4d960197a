"""Operations: work on whole batches, or on many, that outlives a request. Each kind has a
function and an entry.

A step is bounded and safe to repeat: the driver may die between any two.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from weft.core.errors import WeftError
from weft.driver.operations import batch_action, one_batch, resubmit
from weft.driver.operations.copied_specs import Keys
from weft.ports.store import Operation
from weft.store import DriverStore
from weft.wire.sealed import SecretKeys

Step = Callable[[DriverStore, int, Operation, Keys], Awaitable[bool]]
"""Does one step of an operation in a term; returns False if the operation waits for something."""

STEPS: Final[Mapping[str, Step]] = {
    "batch_action": batch_action.step,
    "delete_batch": one_batch.delete_batch,
    "fill_set": one_batch.fill_set,
    "resubmit": resubmit.step,
    "retry": one_batch.retry,
    "set_priority": one_batch.set_priority,
}
"""By kind of operation."""


async def advance_operation(
    store: DriverStore, epoch: int, operation: Operation, keys: Keys = SecretKeys
) -> bool:
    """Do one bounded step of an operation; return False if it has to wait for something.

    Raises a `WeftError` if the operation can never succeed.
    """
    step = STEPS.get(operation.kind)
    if step is None:
        raise WeftError(
            f"this driver cannot perform {operation.kind!r} operations",
            detail="The operation was created by a newer weft.",
            hint="Start a driver of that version, then request the operation again.",
        )
    return await step(store, epoch, operation, keys)
