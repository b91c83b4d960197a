"""`/v1/batches`: create, list, get, edit, delete, cancel, retry, hold, release,
hide.
"""

from typing import Final

from litestar import Response, delete, get, patch, post

from weft.api.calls.path_ids import parse_group
from weft.api.http.batch_pages import ORDER, BatchPage
from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query, cause_of, wrong_parameter
from weft.api.http.path_ids import batch_id_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.use_cases import cancel, edit, hide, hold, read, release, resubmit, retry
from weft.api.use_cases import delete as delete_use_case
from weft.submission import submit
from weft.wire.answers.batches import (
    Batch,
    BatchCreated,
    Cancelled,
    Change,
    HiddenChanged,
    HoldChanged,
    Operation,
    Plan,
)
from weft.wire.documents.batches import BatchDocument, CancelDocument, EditDocument, Empty
from weft.wire.documents.repeats import ResubmitDocument, RetryJobsDocument

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


@get("/v1/batches/{b:str}", opt={"answer": Batch})
async def get_batch(request: AnyRequest) -> Response[bytes]:
    """Get the state, counts and cost of a batch."""
    Query(request, ())
    batch_id = batch_id_of(request)
    return reply(await read.get_batch(services_of(request), caller_of(request), batch_id))


@patch("/v1/batches/{b:str}", opt={"answer": Batch, "accepted": Operation, "body": EditDocument})
async def edit_batch(request: AnyRequest) -> Response[bytes]:
    """Change the name and attributes of a batch by a JSON merge patch: null removes. With
    `priority` the reply is 202 and the operation that changes the jobs that have not ended.
    """
    Query(request, ())
    batch_id = batch_id_of(request)
    document, origin = await read_submission(request, EditDocument)
    answer, goes_on = await edit.edit_batch(
        services_of(request), caller_of(request), batch_id, document, origin
    )
    return reply(answer, 202 if goes_on else 200)


@delete(
    "/v1/batches/{b:str}",
    status_code=202,
    opt={"accepted": Operation, "body": Empty, "headers": ("Idempotency-Key",)},
)
async def delete_batch(request: AnyRequest) -> Response[bytes]:
    """Delete a batch with everything that belongs to it. It is gone at once and its running jobs
    are stopped; the reply is the operation that removes its rows.
    """
    Query(request, ())
    _, origin = await read_submission(request, Empty)
    operation = await delete_use_case.delete_batch(
        services_of(request), caller_of(request), batch_id_of(request), origin
    )
    return reply(operation, 202)


@get("/v1/batches/{b:str}/history", opt={"page": Change, "query": PAGE})
async def batch_history(request: AnyRequest) -> Response[bytes]:
    """List what people changed of a batch, newest first."""
    query = Query(request, PAGE)
    services = services_of(request)
    limit = limit_of(query, services.settings)
    rows = await read.group_history(
        services,
        caller_of(request),
        batch_id_of(request),
        ROOT_GROUP,
        before=cursor_of(query, "c"),
        limit=limit,
    )
    return reply(page(rows, limit, "c", "id"))


@post("/v1/batches/{b:str}/cancel", opt={"answer": Cancelled, "body": CancelDocument})
async def cancel_batch(request: AnyRequest) -> Response[bytes]:
    """Cancel all jobs of a batch that have not ended; with `force` also jobs that always run."""
    Query(request, ())
    batch_id = batch_id_of(request)
    document = await read_document(request, CancelDocument)
    return reply(
        await cancel.cancel_batch(services_of(request), caller_of(request), batch_id, document)
    )


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


@post(
    "/v1/batches/{b:str}/resubmit",
    status_code=202,
    opt={"accepted": Operation, "body": ResubmitDocument, "headers": ("Idempotency-Key",)},
)
async def resubmit_batch(request: AnyRequest) -> Response[bytes]:
    """Make a new batch from the jobs of a batch: from all, or with `failed` from those that failed
    and those that were cancelled because of them. Parents that succeeded count as done. The reply
    is the operation that does so; when it has succeeded, the new batch is `result.batch_id`, and
    before that nobody sees it. Repeated with the same key, the request makes no second batch.
    """
    Query(request, ())
    document, origin = await read_submission(request, ResubmitDocument)
    operation = await resubmit.resubmit_batch(
        services_of(request), caller_of(request), batch_id_of(request), document, origin
    )
    return reply(operation, 202)


@post("/v1/batches/{b:str}/hold", opt={"answer": HoldChanged, "body": Empty})
async def hold_batch(request: AnyRequest) -> Response[bytes]:
    """Hold a batch: nothing of it starts until it is released; running jobs go on."""
    Query(request, ())
    batch_id = batch_id_of(request)
    await read_document(request, Empty)
    return reply(
        await hold.hold_group(services_of(request), caller_of(request), batch_id, ROOT_GROUP)
    )


@post("/v1/batches/{b:str}/release", opt={"answer": HoldChanged, "body": Empty})
async def release_batch(request: AnyRequest) -> Response[bytes]:
    """Release a batch: its jobs may start, except those that another hold covers."""
    Query(request, ())
    batch_id = batch_id_of(request)
    await read_document(request, Empty)
    return reply(
        await release.release_group(services_of(request), caller_of(request), batch_id, ROOT_GROUP)
    )


@post("/v1/batches/{b:str}/hide", opt={"answer": HiddenChanged, "body": Empty})
async def hide_batch(request: AnyRequest) -> Response[bytes]:
    """Hide a batch: lists of batches leave it out unless they ask for hidden ones. Its jobs go on,
    and whoever names it finds it.
    """
    return await _change_hidden(request, hidden=True)


@post("/v1/batches/{b:str}/unhide", opt={"answer": HiddenChanged, "body": Empty})
async def unhide_batch(request: AnyRequest) -> Response[bytes]:
    """Show a hidden batch in lists again."""
    return await _change_hidden(request, hidden=False)


async def _change_hidden(request: AnyRequest, *, hidden: bool) -> Response[bytes]:
    Query(request, ())
    batch_id = batch_id_of(request)
    await read_document(request, Empty)
    return reply(
        await hide.hide_batch(services_of(request), caller_of(request), batch_id, hidden=hidden)
    )


ROUTES = (
    create_batch, list_batches, get_batch, edit_batch, delete_batch, batch_history, cancel_batch,
    retry_batch, resubmit_batch, hold_batch, release_batch, hide_batch, unhide_batch,
)  # fmt: skip
