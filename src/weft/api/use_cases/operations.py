"""Operations, one after the other in the background."""

from collections.abc import Sequence
from typing import Annotated

from weft.api.calls.call import Cursor, Word, call
from weft.api.calls.path_ids import OperationId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.core.ids import parse_batch_id
from weft.ports.store import Caller, Row
from weft.wire.answers.operations import Operation


@call("GET /v1/operations", Right.READ, page=Operation, cursor=Cursor("o", "id"), public=False)
async def list_operations(
    services: Services,
    caller: Caller,
    *,
    batch_id: Annotated[int | None, Word("batch", parse_batch_id)],
    before: int | None,
    limit: int,
) -> Sequence[Row]:
    """Return operations, newest first; `batch`: only operations of this batch."""
    return await services.store.list_operations(
        caller, before=before, limit=limit, batch_id=batch_id
    )


@call("GET /v1/operations/{o}", Right.READ, Operation, public=False)
async def get_operation(services: Services, caller: Caller, operation_id: OperationId) -> Row:
    """Return the state and the progress of an operation. Raise `OperationNotFound`."""
    return await services.store.get_operation(caller, operation_id)


@call("POST /v1/operations/{o}/cancel", Right.WRITE, Operation, public=False)
async def cancel_operation(services: Services, caller: Caller, operation_id: OperationId) -> Row:
    """End an operation on many batches before it has reached all of them; return it. What it has
    done stays done. Other operations go on to their end: 409. Raise `OperationNotFound`,
    `OperationNotCancellable`.
    """
    return await services.store.cancel_operation(caller, operation_id)
