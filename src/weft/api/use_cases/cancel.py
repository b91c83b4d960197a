"""Cancel a batch, a group or a job."""

from weft.api.services import Services
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.documents.batches import CancelDocument

ROOT_GROUP = 0


async def cancel_batch(
    services: Services, caller: Caller, batch_id: int, document: CancelDocument
) -> Answer:
    """Cancel all jobs of a batch that have not ended."""
    answer = await cancel_group(services, caller, batch_id, ROOT_GROUP, document)
    return {name: value for name, value in answer.items() if name != "group_id"}


async def cancel_group(
    services: Services, caller: Caller, batch_id: int, group: int | str, document: CancelDocument
) -> Answer:
    """Cancel all jobs of a group, and of the groups below it, that have not ended."""
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


async def cancel_job(services: Services, caller: Caller, batch_id: int, job_id: int) -> Answer:
    """Cancel one job, also one that always runs."""
    outcomes = await services.store.cancel_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}
