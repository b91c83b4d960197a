"""Delete a batch."""

from weft.api.services import Services
from weft.ports.store import Caller
from weft.submission.services import Answer, Origin


async def delete_batch(
    services: Services, caller: Caller, batch_id: int, origin: Origin
) -> Answer:
    """Delete a batch: it is gone at once; return the operation that removes its rows."""
    operation_id = await services.store.delete_batch(
        caller,
        batch_id,
        trace_id=origin.trace_id,
        idempotency_key=origin.key,
        digest=origin.digest,
    )
    return dict(await services.store.get_operation(caller, operation_id))
