"""The loop that goes on with operations: work on whole batches, in bounded steps."""

from collections.abc import Callable

from weft.core.errors import EpochStale, Unavailable, WeftError
from weft.core.problem_document import problem_document
from weft.driver.bell import Bell
from weft.ports.store import DriverStore, Operation
from weft.telemetry.log import get_logger

log = get_logger()


async def run_operate(
    store: DriverStore, epoch: int, bell: Bell, *, after_pass: Callable[[], None]
) -> None:
    """Give every operation a step in turn until none can go on, then wait for the bell."""
    while True:
        if await _advance_all(store, epoch):
            after_pass()
        else:
            await bell.heard()


async def _advance_all(store: DriverStore, epoch: int) -> bool:
    """Give each operation one step; return False if all of them wait for something."""
    moved, last = False, 0
    while operations := await store.running_operations(epoch, last):
        for operation in operations:
            moved |= await _advance(store, epoch, operation)
        last = operations[-1].operation_id
    return moved


async def _advance(store: DriverStore, epoch: int, operation: Operation) -> bool:
    try:
        return await store.advance_operation(epoch, operation)
    except (Unavailable, EpochStale):
        raise  # says nothing about the operation
    except WeftError as error:
        log.warning(
            "operation.failed",
            operation=operation.operation_id,
            kind=operation.kind,
            code=error.code,
            error=error.message,
        )
        await store.fail_operation(
            epoch, operation.operation_id, problem_document(error, operation.trace_id)
        )
        return True
