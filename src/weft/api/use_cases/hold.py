"""Hold a batch, a group or a job, so that nothing of it starts, and release it."""

from weft.api.calls.call import act
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.api.use_cases.read import find_group_id
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.batches import HoldChanged, JobHoldChanged


@act("POST /v1/batches/{b}/hold", HoldChanged)
async def hold_batch(services: Services, caller: Caller, batch_id: BatchId) -> Answer:
    """Hold a batch: nothing of it starts until it is released; running jobs go on."""
    return await hold_group(services, caller, batch_id, 0)


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
    return await release_group(services, caller, batch_id, 0)


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
