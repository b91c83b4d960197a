"""Release a batch, a group or a job that is held."""

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.api.use_cases.hold import describe_hold
from weft.api.use_cases.read import find_group_id
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.batches import HoldChanged, JobHoldChanged


@call(
    "POST /v1/batches/{b}/release",
    Right.WRITE,
    HoldChanged,
    permission=Permission.EXECUTE,
    public=False,
)
async def release_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Release a batch: its jobs may start, except those that another hold covers."""
    return await release_group(services, caller, batch_id, 0)


@call(
    "POST /v1/batches/{b}/groups/{g}/release",
    Right.WRITE,
    HoldChanged,
    permission=Permission.EXECUTE,
    public=False,
)
async def release_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId
) -> Answer:
    """Release a group: its jobs may start, except those that another hold covers."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.release_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=is_new)


@call(
    "POST /v1/batches/{b}/jobs/{j}/release",
    Right.WRITE,
    JobHoldChanged,
    permission=Permission.EXECUTE,
    public=False,
)
async def release_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId
) -> Answer:
    """Release one job; it waits on while a group of it is held."""
    outcomes = await services.store.release_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}
