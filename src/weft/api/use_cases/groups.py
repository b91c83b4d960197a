"""Groups of a batch."""

from weft.api.calls.call import act
from weft.api.calls.path_ids import BatchId, GroupId
from weft.api.services import Services
from weft.api.use_cases.read import find_group_id
from weft.api.use_cases.sets import new_set
from weft.ports.store import Caller, Origin
from weft.submission.services import Answer
from weft.submission.submit import create_group as submit_group
from weft.wire.answers.batches import Cancelled, HoldChanged
from weft.wire.documents.batches import CancelDocument
from weft.wire.documents.groups import GroupDocument


@act("POST /v1/batches/{b}/groups/{g}/cancel", Cancelled)
async def cancel_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId, document: CancelDocument
) -> Answer:
    """Cancel all jobs of a group, and of groups below it, that have not ended."""
    row = await services.store.get_group(caller, batch_id, group)
    group_id = int(row["group_id"])
    is_new = await services.store.cancel_group(caller, batch_id, group_id, force=document.force)
    return {
        "batch_id": batch_id,
        "group_id": group_id,
        "cancelled": True,
        "was_cancelled": not is_new,
        "had_ended": row["completed_at"] is not None,
    }


@act("POST /v1/batches/{b}/groups/{g}/hold", HoldChanged)
async def hold_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId
) -> Answer:
    """Hold a group with those below it: nothing of it starts until it is released."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.hold_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=not is_new)


@act("POST /v1/batches/{b}/groups/{g}/release", HoldChanged)
async def release_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId
) -> Answer:
    """Release a group: its jobs may start, except those that another hold covers."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.release_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=is_new)


async def describe_hold(
    services: Services, caller: Caller, batch_id: int, group_id: int, *, was_held: bool
) -> Answer:
    """Return whether a group was and is held."""
    row = await services.store.get_group(caller, batch_id, group_id)
    return {
        "batch_id": batch_id,
        "group_id": group_id,
        "held": row["held"],  # perhaps by a group above
        "was_held": was_held,
    }


async def create_group(
    services: Services, caller: Caller, batch_id: int, document: GroupDocument, origin: Origin
) -> tuple[Answer, bool]:
    """Create a set, or a group of the tree; return its document and whether it is new."""
    group: int | str
    if document.path is not None:
        group = document.path
        is_new = await submit_group(services, caller, batch_id, document, origin)
    else:
        new = new_set(document, services.settings)
        group, is_new = await services.store.create_set(caller, batch_id, new)
    return dict(await services.store.get_group(caller, batch_id, group)), is_new
