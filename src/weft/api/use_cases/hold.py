"""Hold a batch, a group or a job, so that nothing of it starts."""

from weft.api.calls.call import call
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.api.use_cases.read import find_group_id
from weft.core.access.permissions import Permission
from weft.core.access.rights import Right
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.batches import HoldChanged, JobHoldChanged


@call(
    "POST /v1/batches/{b}/hold",
    Right.WRITE,
    HoldChanged,
    permission=Permission.EXECUTE,
    public=False,
)
async def hold_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Hold a batch: nothing of it starts until it is released; running jobs go on."""
    return await hold_group(services, caller, batch_id, 0)


@call(
    "POST /v1/batches/{b}/groups/{g}/hold",
    Right.WRITE,
    HoldChanged,
    permission=Permission.EXECUTE,
    public=False,
)
async def hold_group(
    services: Services, caller: Caller, batch_id: BatchId, group: GroupId
) -> Answer:
    """Hold a group with those below it: nothing of it starts until it is released."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.hold_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=not is_new)


@call(
    "POST /v1/batches/{b}/jobs/{j}/hold",
    Right.WRITE,
    JobHoldChanged,
    permission=Permission.EXECUTE,
    public=False,
)
async def hold_job(services: Services, caller: Caller, batch_id: BatchId, job_id: JobId) -> Answer:
    """Hold one job: it does not start until it is released."""
    outcomes = await services.store.hold_jobs(caller, batch_id, [job_id])
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
