"""Run jobs of a batch again: in place, or as a new batch."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec

from weft.api.calls.call import KEYED, Word, call
from weft.api.calls.path_ids import BatchId, GroupId, parse_cause
from weft.api.services import Services
from weft.api.use_cases.read import find_group_id, parse
from weft.core.access.rights import Permission, Right
from weft.core.errors import FieldError, InvalidDocument, InvalidParameter, WeftError
from weft.core.query import Subject
from weft.ports.store import Caller, Origin, Shape
from weft.settings import Settings
from weft.submission import submit
from weft.submission.owners import require_owner, signed_variables
from weft.submission.services import Answer
from weft.submission.translation.context import refuse_too_many
from weft.wire.answers.operations import Operation
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.jobs import JobDocument
from weft.wire.documents.resubmissions import ResubmitDocument, RetryJobsDocument


@call(
    "POST /v1/batches/{b}/retry",
    Right.WRITE,
    accepted=Operation,
    permission=Permission.EXECUTE,
    public=False,
    marks=KEYED,
)
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


_BATCH: Final = ("name", "attributes", "billing_project")
_JOB: Final = ("priority", "env", "timeout_s", "max_attempts")
_SIZES: Final = {"cpu": "cpu_m", "memory": "memory_mib"}
_WORDS: Final = ("queue", "pool")
_A_JOB: Final = ("true",)
"""Any command: a job with what is to be different is checked as one of a submission."""


# Its jobs get the secrets and the queues of whoever owns it, and values that others see masked.
@call(
    "POST /v1/batches/{b}/resubmit",
    Right.WRITE,
    accepted=Operation,
    permission=Permission.READ,
    public=False,
    spread=False,
)
async def resubmit_batch(
    services: Services,
    caller: Caller,
    batch_id: BatchId,
    document: ResubmitDocument,
    origin: Origin,
) -> Answer:
    """Make a new batch from the jobs of a batch: from all, from one `job`, or with `failed` from
    those that failed and those that were cancelled because of them. Parents that succeeded, and
    those of a `job` however they ended, count as done. The answer
    is the operation that does so; when it has succeeded, the new batch is `result.batch_id`, and
    before that nobody sees it. Repeated with the same key, the request makes no second batch.
    Raise `Forbidden` unless the caller owns the batch.
    """
    await require_owner(
        services,
        caller,
        batch_id,
        "resubmit it",
        because="; its jobs may have variables that you do not see.",
        hint="Ask its owner to do it, or submit jobs of your own.",
    )
    operation_id = await services.store.resubmit_batch(
        caller,
        batch_id,
        origin,
        failed=document.failed,
        changes=await _changes(services, caller, document, origin),
    )
    return dict(await services.store.get_operation(caller, operation_id))


async def _changes(
    services: Services, caller: Caller, document: ResubmitDocument, origin: Origin
) -> Mapping[str, Any]:
    """Return what is to be different; raise what is wrong with it."""
    given = {
        name: value
        for name in document.__struct_fields__
        if (value := getattr(document, name)) not in (None, {}, False)
    }
    of_batch: dict[str, Any] = {name: given[name] for name in _BATCH if name in given}
    of_job: dict[str, Any] = {name: given[name] for name in _JOB if name in given}
    sizes: dict[str, Any] = msgspec.to_builtins(given.get("resources", {}))
    job = JobDocument(command=_A_JOB, queue=document.queue, resources=sizes or None, **of_job)
    try:
        shape = await submit.check_batch(
            services, caller, BatchDocument(**of_batch, jobs=[job]), origin
        )
    except WeftError as error:
        error.point(lambda pointer: pointer.removeprefix("/jobs/0"))
        if error.detail is not None:
            error.detail = error.detail.replace("/jobs/0/", "/")
        raise
    assert shape is not None, "there is a job"
    of_job |= {_SIZES[name]: getattr(shape, _SIZES[name]) for name in sizes}
    if document.queue is not None:
        of_job["words"] = _words(shape)
    if document.env:
        of_job |= signed_variables(services, caller, document.env)
    return {"batch": of_batch, "job": document.job, **of_job}


def _words(shape: Shape) -> Mapping[str, Any]:
    """Return the words of the queue that all jobs get, None for those that go."""
    found = dict(shape.words)
    return {name: found.get(name) for name in _WORDS}
