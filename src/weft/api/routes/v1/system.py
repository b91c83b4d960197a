"""`/v1/system`: the whole site."""

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, services_of
from weft.api.use_cases import system
from weft.wire.answers.system import System


@get("/v1/system", opt={"answer": System})
async def get_system(request: AnyRequest) -> Response[bytes]:
    """Get the processes that are connected, the database, what the last audit has found, the
    settings in force, and what of all this is not as it should be.
    """
    Query(request, ())
    return reply(await system.get_system(services_of(request)))


ROUTES = (get_system,)
"""The routes of the site."""
