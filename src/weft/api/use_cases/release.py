"""Release a batch, a group or a job that is held."""

from weft.api.services import Services
from weft.api.use_cases.hold import describe_hold
from weft.api.use_cases.read import find_group_id
from weft.ports.store import Caller
from weft.submission.services import Answer


async def release_group(
    services: Services, caller: Caller, batch_id: int, group: int | str
) -> Answer:
    """Release a group; group 0 is the batch. Its jobs wait on while another hold covers them."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.release_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=is_new)


async def release_job(services: Services, caller: Caller, batch_id: int, job_id: int) -> Answer:
    """Release one job; it waits on while a group of it is held."""
    outcomes = await services.store.release_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}
