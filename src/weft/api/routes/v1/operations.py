"""`/v1/operations`: the progress of work on whole batches, or on many."""

from litestar import Response, get, post

from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import operation_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.core.ids import parse_batch_id
from weft.wire.answers.batches import Operation
from weft.wire.documents.batches import Empty


@get("/v1/operations", opt={"page": Operation, "query": ("batch", *PAGE)})
async def list_operations(request: AnyRequest) -> Response[bytes]:
    """List operations, newest first; `batch`: only operations of this batch."""
    query = Query(request, ("batch", *PAGE))
    services = services_of(request)
    limit = limit_of(query, services.settings)
    batch = query.text("batch")
    rows = await services.store.list_operations(
        caller_of(request),
        before=cursor_of(query, "o"),
        limit=limit,
        batch_id=None if batch is None else parse_batch_id(batch),
    )
    return reply(page(rows, limit, "o", "id"))


@get("/v1/operations/{o:str}", opt={"answer": Operation})
async def get_operation(request: AnyRequest) -> Response[bytes]:
    """Get the state and the progress of an operation."""
    Query(request, ())
    operation_id = operation_id_of(request)
    store = services_of(request).store
    return reply(await store.get_operation(caller_of(request), operation_id))


@post("/v1/operations/{o:str}/cancel", status_code=200, opt={"answer": Operation, "body": Empty})
async def cancel_operation(request: AnyRequest) -> Response[bytes]:
    """End an operation on many batches before it has reached all of them. What it has done stays
    done. Other operations go on to their end: 409.
    """
    Query(request, ())
    operation_id = operation_id_of(request)
    await read_document(request, Empty)
    store = services_of(request).store
    return reply(await store.cancel_operation(caller_of(request), operation_id))


ROUTES = (list_operations, get_operation, cancel_operation)
