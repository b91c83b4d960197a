"""Batches that are cancelled, held or hidden."""

from weft.api.calls.call import act, call
from weft.api.calls.path_ids import BatchId
from weft.api.services import Services
from weft.api.use_cases.groups import cancel_group, hold_group, release_group
from weft.core.access.rights import Right
from weft.ports.store import Caller, Origin
from weft.submission.services import Answer
from weft.wire.answers.batches import Cancelled, HiddenChanged, HoldChanged
from weft.wire.answers.operations import Operation
from weft.wire.documents.batches import CancelDocument

ROOT_GROUP = 0


@act("POST /v1/batches/{b}/cancel", Cancelled)
async def cancel_batch(
    services: Services, caller: Caller, batch_id: BatchId, document: CancelDocument
) -> Answer:
    """Cancel all jobs of a batch that have not ended."""
    answer = await cancel_group(services, caller, batch_id, ROOT_GROUP, document)
    return {name: value for name, value in answer.items() if name != "group_id"}


@act("POST /v1/batches/{b}/hold", HoldChanged)
async def hold_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Hold a batch: nothing of it starts until it is released; running jobs go on."""
    return await hold_group(services, caller, batch_id, ROOT_GROUP)


@act("POST /v1/batches/{b}/release", HoldChanged)
async def release_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Release a batch: its jobs may start, except those that another hold covers."""
    return await release_group(services, caller, batch_id, ROOT_GROUP)


@call("POST /v1/batches/{b}/hide", Right.WRITE, HiddenChanged, public=False)
async def hide_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Hide a batch: lists of batches leave it out unless they ask for hidden ones. Its jobs go on,
    and whoever names it finds it.
    """
    return await _set_hidden(services, caller, batch_id, hidden=True)


@call("POST /v1/batches/{b}/unhide", Right.WRITE, HiddenChanged, public=False)
async def unhide_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Show a hidden batch in lists again."""
    return await _set_hidden(services, caller, batch_id, hidden=False)


async def _set_hidden(
    services: Services, caller: Caller, batch_id: int, *, hidden: bool
) -> Answer:
    """Hide a batch, or show it again; return whether it is and was hidden."""
    is_new = await services.store.hide_batch(caller, batch_id, hidden=hidden)
    return {"batch_id": batch_id, "hidden": hidden, "was_hidden": hidden != is_new}


@call("DELETE /v1/batches/{b}", Right.WRITE, accepted=Operation, public=False)
async def delete_batch(
    services: Services, caller: Caller, batch_id: BatchId, origin: Origin
) -> Answer:
    """Delete a batch with everything that belongs to it. It is gone at once and its running jobs
    are stopped; the answer is the operation that removes its rows.
    """
    operation_id = await services.store.delete_batch(caller, batch_id, origin)
    return dict(await services.store.get_operation(caller, operation_id))
