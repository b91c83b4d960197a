"""`/v1/overview` and `/v1/workers`."""

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.wire.answers import Overview, Worker


@get("/v1/overview", opt={"answer": Overview})
async def overview(request: AnyRequest) -> Response[bytes]:
    """Get the workers and how many jobs wait and run."""
    Query(request, ())
    return reply(await services_of(request).store.overview(caller_of(request)))


@get("/v1/workers", opt={"page": Worker})
async def list_workers(request: AnyRequest) -> Response[bytes]:
    """List the workers."""
    Query(request, ())
    found = await services_of(request).store.overview(caller_of(request))
    return reply({"items": found["workers"], "cursor": None})


ROUTES = (overview, list_workers)
