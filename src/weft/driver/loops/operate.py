"""The loop that advances operations: work on whole batches, in bounded steps."""

from dataclasses import dataclass

from weft.core.errors import EpochStale, Internal, Unavailable, WeftError
from weft.core.problems import problem_document
from weft.driver.loops.loop import Loop, LoopContext
from weft.driver.operations import advance_operation
from weft.driver.operations.copied_specs import Keys
from weft.ports.store import Operation
from weft.telemetry.log import log
from weft.wire.sealed import SecretKeys


@dataclass(frozen=True)
class SigningKeys:
    """What signs the functions of resubmitted jobs. Without it they get no signature."""

    read: Keys


async def _run(context: LoopContext) -> None:
    """Advance each operation in turn until none can advance, then wait for the bell."""
    while True:
        if await _advance_all(context):
            context.moved()
        else:
            await context.bell.heard()


async def _advance_all(context: LoopContext) -> bool:
    """Give each operation one step; return False if all of them wait for something."""
    moved, last = False, 0
    while operations := await context.store.running_operations(context.epoch, last):
        for operation in operations:
            moved |= await _advance(context, operation)
        last = operations[-1].operation_id
    return moved


async def _advance(context: LoopContext, operation: Operation) -> bool:
    store, epoch, keys = context.store, context.epoch, context.adapters.get(SigningKeys)
    try:
        return await advance_operation(
            store, epoch, operation, SecretKeys if keys is None else keys.read
        )
    except (Unavailable, EpochStale):
        raise  # says nothing about the operation
    except Exception as mistake:  # noqa: BLE001 (one operation must not stop the others)
        error = _named(mistake)
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


def _named(mistake: Exception) -> WeftError:
    """Return an error that says why an operation has failed."""
    if isinstance(mistake, WeftError):
        return mistake
    return Internal(f"a defect: {mistake!r}", hint="Report it, with what the driver logged.")


LOOP = Loop("operate", _run)
