"""Retry what failed: jobs run again in place, with what was cancelled because of them."""

from collections.abc import Sequence

from weft.api.services import Services
from weft.api.use_cases.read import find_group_id, parse
from weft.core.errors import FieldError, InvalidDocument
from weft.core.query import Subject
from weft.ports.store import Caller
from weft.settings import Settings
from weft.submission.services import Answer, Origin
from weft.submission.translation.request_size import refuse_too_many
from weft.wire.documents.repeats import RetryJobsDocument


async def retry_jobs(
    services: Services,
    caller: Caller,
    batch_id: int,
    document: RetryJobsDocument,
    origin: Origin,
    *,
    query: str | None,
    within: int | str | None,
    cause: str | None,
) -> Answer:
    """Begin to retry a batch, some of its jobs, or those that match; return the operation.

    `within`: only jobs of this group. `cause`: only those that failed for it.
    """
    if document.jobs is not None:
        _check_jobs(document.jobs, services.settings, query, within, cause)
    if query is not None:
        parse(query, Subject.JOBS, services.settings)  # refuses a wrong query now
    within_group = None
    if within is not None:
        within_group = await find_group_id(services, caller, batch_id, within)
    operation_id = await services.store.retry_jobs(
        caller,
        batch_id,
        job_ids=document.jobs,
        query=query,
        within_group=within_group,
        cause_id=None if cause is None else int(cause, 16),
        trace_id=origin.trace_id,
        idempotency_key=origin.key,
        digest=origin.digest,
    )
    return dict(await services.store.get_operation(caller, operation_id))


async def retry_failed(
    services: Services, caller: Caller, batch_id: int, trace_id: str, *, cause: str | None = None
) -> Answer:
    """Begin to run all failed jobs of a batch again, or only those that failed for one cause."""
    origin = Origin(digest=b"", trace_id=trace_id)
    return await retry_jobs(
        services, caller, batch_id, RetryJobsDocument(), origin,
        query=None, within=None, cause=cause,
    )  # fmt: skip


def _check_jobs(jobs: Sequence[int], settings: Settings, *others: int | str | None) -> None:
    if any(one is not None for one in others):
        raise InvalidDocument(
            "a retry names jobs, or says which ones by a query, a group or a cause",
            detail="The request does both.",
            hint="Leave out one of them; without both, all failed jobs of the batch run again.",
            errors=[FieldError("/jobs", "there is also a query, a group or a cause")],
        )
    refuse_too_many(
        "jobs", len(jobs), settings, hint="Send them in several requests, or use a query."
    )
