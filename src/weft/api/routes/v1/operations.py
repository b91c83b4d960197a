"""`/v1/operations`: how work on whole batches goes on."""

import re

from litestar import Response, get

from weft.api.http.paging import PAGE, cursor_of, limit_of, page
from weft.api.http.replies import reply
from weft.api.http.requests import Query
from weft.api.services import AnyRequest, caller_of, services_of
from weft.core.errors import BadId
from weft.core.ids import parse_batch_id
from weft.wire.answers import Operation

_NUMBER = re.compile(r"[1-9][0-9]{0,17}")


@get("/v1/operations", opt={"page": Operation, "query": ("batch", *PAGE)})
async def list_operations(request: AnyRequest) -> Response[bytes]:
    """List operations, newest first; `batch`: only those of this batch."""
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
    text = request.path_params["o"]
    if not _NUMBER.fullmatch(text):
        raise BadId(text, expected="an operation is a number from 1 on")
    store = services_of(request).store
    return reply(await store.get_operation(caller_of(request), int(text)))


ROUTES = (list_operations, get_operation)
