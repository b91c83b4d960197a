"""Delete a batch."""

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId
from weft.api.services import Services
from weft.core.access.rights import Right
from weft.ports.store import Caller, Origin
from weft.submission.services import Answer
from weft.wire.answers.batches import Operation


@call("DELETE /v1/batches/{b}", Right.WRITE, accepted=Operation, client="")
async def delete_batch(
    services: Services, caller: Caller, batch_id: BatchId, origin: Origin
) -> Answer:
    """Delete a batch with everything that belongs to it. It is gone at once and its running jobs
    are stopped; the answer is the operation that removes its rows.
    """
    operation_id = await services.store.delete_batch(caller, batch_id, origin)
    return dict(await services.store.get_operation(caller, operation_id))
