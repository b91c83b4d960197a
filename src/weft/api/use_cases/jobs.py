"""Jobs that are cancelled or held."""

from weft.api.calls.call import act, call
from weft.api.calls.path_ids import BatchId, JobId
from weft.api.services import Services
from weft.core.access.rights import Permission, Right
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.jobs import JobCancelled, JobHoldChanged
from weft.wire.documents.batches import CancelDocument


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


@act("POST /v1/batches/{b}/jobs/{j}/hold", JobHoldChanged)
async def hold_job(services: Services, caller: Caller, batch_id: BatchId, job_id: JobId) -> Answer:
    """Hold one job: it does not start until it is released."""
    outcomes = await services.store.hold_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}


@act("POST /v1/batches/{b}/jobs/{j}/release", JobHoldChanged)
async def release_job(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId
) -> Answer:
    """Release one job; it waits on while a group of it is held."""
    outcomes = await services.store.release_jobs(caller, batch_id, [job_id])
    return {"batch_id": batch_id, "job_id": job_id, "result": outcomes[job_id]}
