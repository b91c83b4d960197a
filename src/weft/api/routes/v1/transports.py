"""`/v1/transports`: the connections over which queues travel."""

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.use_cases import transports
from weft.wire.transport_answers import Transport


@get("/v1/transports", opt={"page": Transport})
async def list_transports(request: AnyRequest) -> Response[bytes]:
    """List the connections of the tenant by name, and what is under way over each."""
    Query(request, ())
    rows = await transports.list_transports(services_of(request), caller_of(request))
    return reply({"items": rows, "cursor": None})


ROUTES = (list_transports,)
"""The route of transports."""
