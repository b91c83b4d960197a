"""Hold, release, cancel, hide or delete a batch; hold, release or cancel groups and jobs of it."""

from weft.api.calls.call import act, call
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.api.use_cases.read import find_group_id
from weft.core.access.rights import Permission, Right
from weft.ports.store import Caller, Origin
from weft.submission.services import Answer
from weft.wire.answers.batches import Cancelled, HiddenChanged, HoldChanged
from weft.wire.answers.jobs import JobCancelled, JobHoldChanged
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


@call(
    "POST /v1/batches/{b}/jobs/{j}/cancel",
    Right.WRITE,
    JobCancelled,
    permission=Permission.EXECUTE,
    client="",
)
async def cancel_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, _: CancelDocument
) -> Answer:
    """Cancel one job, also one that always runs."""
    outcomes = await services.store.cancel_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}


@act("POST /v1/batches/{b}/hold", HoldChanged)
async def hold_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Hold a batch: nothing of it starts until it is released; running jobs go on."""
    return await hold_group(services, caller, batch_id, ROOT_GROUP)


@act("POST /v1/batches/{b}/groups/{g}/hold", HoldChanged)
async def hold_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId
) -> Answer:
    """Hold a group with those below it: nothing of it starts until it is released."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.hold_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=not is_new)


@act("POST /v1/batches/{b}/jobs/{j}/hold", JobHoldChanged)
async def hold_job(services: Services, caller: Caller, batch_id: BatchId, job_id: JobId) -> Answer:
    """Hold one job: it does not start until it is released."""
    outcomes = await services.store.hold_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}


@act("POST /v1/batches/{b}/release", HoldChanged)
async def release_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Release a batch: its jobs may start, except those that another hold covers."""
    return await release_group(services, caller, batch_id, ROOT_GROUP)


@act("POST /v1/batches/{b}/groups/{g}/release", HoldChanged)
async def release_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId
) -> Answer:
    """Release a group: its jobs may start, except those that another hold covers."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.release_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=is_new)


@act("POST /v1/batches/{b}/jobs/{j}/release", JobHoldChanged)
async def release_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId
) -> Answer:
    """Release one job; it waits on while a group of it is held."""
    outcomes = await services.store.release_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}


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
