"""Retry what failed: jobs run again in place, with what was cancelled because of them."""

from collections.abc import Sequence
from typing import Annotated

from weft.api.calls.call import KEY, Word, call
from weft.api.calls.path_ids import BatchId, GroupId, parse_cause
from weft.api.services import Services
from weft.api.use_cases.read import find_group_id, parse
from weft.core.access.rights import Permission, Right
from weft.core.errors import FieldError, InvalidDocument, InvalidParameter
from weft.core.query import Subject
from weft.ports.store import Caller, Origin
from weft.settings import Settings
from weft.submission.services import Answer
from weft.submission.translation.request_size import refuse_too_many
from weft.wire.answers.batches import Operation
from weft.wire.documents.repeats import RetryJobsDocument


@call(
    "POST /v1/batches/{b}/retry", Right.WRITE, accepted=Operation, permission=Permission.EXECUTE,
    public=False, marks={"headers": (KEY,)},
)  # fmt: skip
async def retry_batch(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    document: RetryJobsDocument,
    origin: Origin,
    q: Annotated[str | None, Word("q")] = None,
    *,
    group: Annotated[GroupId | None, Word("group")] = None,
    cause: Annotated[str | None, Word("cause", parse_cause)] = None,
) -> Answer:
    """Run failed jobs of a batch again, each with all its tries, and the jobs that were cancelled
    because of them. The reply is the operation that does so; `result.n_retried` counts the jobs.
    Attempts stay in the history and on the bill. The batch is complete once more when they end.
    `q`: only failed jobs that match this query; `group`: only those of this group; `cause`: only
    those that failed for this cause. `result.n_late` counts jobs that are left out because they
    can no longer end by their deadline.
    """
    if cause is not None and (q is not None or group is not None):
        message = "a cause comes without a query and a group"
        raise InvalidParameter(
            "the parameter 'cause' is invalid",
            detail=f"{message.capitalize()}.",
            hint="Leave out the cause, or the query and the group.",
            errors=[FieldError("?cause", message)],
        )
    if document.jobs is not None:
        _check_jobs(document.jobs, services.settings, q, group, cause)
    if q is not None:
        parse(q, Subject.JOBS, services.settings)  # refuses a wrong query now
    within_group = None
    if group is not None:
        within_group = await find_group_id(services, caller, batch_id, group)
    operation_id = await services.store.retry_jobs(
        caller,
        batch_id,
        origin,
        job_ids=document.jobs,
        query=q,
        within_group=within_group,
        cause_id=None if cause is None else int(cause, 16),
    )
    return dict(await services.store.get_operation(caller, operation_id))


def _check_jobs(jobs: Sequence[int], settings: Settings, *others: int | str | None) -> None:
    if any(other is not None for other in others):
        raise InvalidDocument(
            "a retry names jobs, or says which ones by a query, a group or a cause",
            detail="The request does both.",
            hint="Leave out one of them; without both, all failed jobs of the batch run again.",
            errors=[FieldError("/jobs", "there is also a query, a group or a cause")],
        )
    refuse_too_many(
        "jobs", len(jobs), settings, hint="Send them in several requests, or use a query."
    )
