"""`/v1/batches`: create, list, get, edit, delete, cancel, retry, hold, release,
hide.
"""

from typing import Final

from weft.api.calls.path_ids import parse_group
from weft.api.http.batch_pages import ORDER, BatchPage
from weft.api.http.paging import PAGE, limit_of
from weft.api.http.parameters import Query, cause_of, wrong_parameter
from weft.api.http.path_ids import batch_id_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import AnyRequest, caller_of, read_submission, services_of
from weft.api.http.routing import Response, get, post
from weft.api.use_cases import read, retry
from weft.submission import submit
from weft.wire.answers.batches import Batch, BatchCreated, Operation, Plan
from weft.wire.documents.batches import BatchDocument
from weft.wire.documents.repeats import RetryJobsDocument

ROOT_GROUP: Final = 0
_RETRY: Final = ("q", "group", "cause")
_LIST: Final = ("name", "q", "hidden", *ORDER, "explain", *PAGE)


@post("/v1/batches", opt={"answer": BatchCreated, "body": BatchDocument, "creates": True})
async def create_batch(request: AnyRequest) -> Response[bytes]:
    """Create a batch. Groups and jobs of the document are created and committed in the same
    transaction.
    """
    Query(request, ())
    document, origin = await read_submission(request, BatchDocument)
    answer, is_new = await submit.create_batch(
        services_of(request), caller_of(request), document, origin
    )
    return created(answer, is_new=is_new)


@get("/v1/batches", opt={"page": Batch, "explained": Plan, "query": _LIST})
async def list_batches(request: AnyRequest) -> Response[bytes]:
    """List batches, newest first, or as `sort` says. `q`: only batches that match this query;
    `name`: only batches of exactly this name; `hidden=true`: also hidden batches; `explain=true`:
    show how the query would run instead of running it.
    """
    query = Query(request, _LIST)
    services, caller = services_of(request), caller_of(request)
    asked = BatchPage(query, query.text("q"), query.text("name"), query.text("hidden"))
    wanted = read.BatchList(
        limit=limit_of(query, services.settings),
        before=asked.before,
        order=asked.order,
        after=asked.after,
        query=query.text("q"),
        name=query.text("name"),
        hidden=query.flag("hidden"),
    )
    if query.flag("explain"):
        return reply(await read.explain_batches(services, caller, wanted))
    rows, last = await read.page_of_batches(services, caller, wanted)
    found = asked.document(rows, last)
    if asked.is_first and not rows:
        warnings = await read.doubt_batches(services, caller, wanted)
        found |= {"warnings": warnings} if warnings else {}
    return reply(found)


@post(
    "/v1/batches/{b:str}/retry",
    status_code=202,
    opt={
        "accepted": Operation,
        "body": RetryJobsDocument,
        "query": _RETRY,
        "headers": ("Idempotency-Key",),
    },
)
async def retry_batch(request: AnyRequest) -> Response[bytes]:
    """Run failed jobs of a batch again, each with all its tries, and the jobs that were cancelled
    because of them. The reply is the operation that does so; `result.n_retried` counts the jobs.
    Attempts stay in the history and on the bill. The batch is complete once more when they end.
    `q`: only failed jobs that match this query; `group`: only those of this group; `cause`: only
    those that failed for this cause. `result.n_late` counts jobs that are left out because they
    can no longer end by their deadline.
    """
    query = Query(request, _RETRY)
    services, text, within = services_of(request), query.text("q"), query.text("group")
    cause = cause_of(query)
    if cause is not None and (text is not None or within is not None):
        raise wrong_parameter("cause", "a cause comes without a query and a group")
    document, origin = await read_submission(request, RetryJobsDocument, text, within, cause)
    operation = await retry.retry_jobs(
        services,
        caller_of(request),
        batch_id_of(request),
        document,
        origin,
        query=text,
        within=None if within is None else parse_group(within, services.settings),
        cause=cause,
    )
    return reply(operation, 202)


ROUTES = (
    create_batch, list_batches, retry_batch )  # fmt: skip
