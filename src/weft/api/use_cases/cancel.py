"""Cancel a batch, a group or a job."""

from weft.api.calls.call import act, call
from weft.api.calls.path_ids import BatchId, GroupId, JobId
from weft.api.services import Services
from weft.core.access.rights import Permission, Right
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.batches import Cancelled, JobCancelled
from weft.wire.documents.batches import CancelDocument

ROOT_GROUP = 0


@call(
    "POST /v1/batches/{b}/cancel", Right.WRITE, Cancelled, permission=Permission.EXECUTE, client=""
)
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
