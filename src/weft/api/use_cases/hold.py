"""Hold a batch, a group or a job, so that nothing of it starts."""

from weft.api.services import Services
from weft.api.use_cases.read import find_group_id
from weft.ports.store import Caller
from weft.submission.services import Answer


async def hold_group(
    services: Services, caller: Caller, batch_id: int, group: int | str
) -> Answer:
    """Hold a group with those below it; group 0 is the batch. Running jobs go on."""
    group_id = await find_group_id(services, caller, batch_id, group)
    is_new = await services.store.hold_group(caller, batch_id, group_id)
    return await describe_hold(services, caller, batch_id, group_id, was_held=not is_new)


async def hold_job(services: Services, caller: Caller, batch_id: int, job_id: int) -> Answer:
    """Hold one job."""
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
