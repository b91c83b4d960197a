"""`/v1/operations`: the progress of work on whole batches."""

from litestar import Response, get

from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.path_ids import operation_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.core.ids import parse_batch_id
from weft.wire.answers import Operation


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


ROUTES = (list_operations, get_operation)
