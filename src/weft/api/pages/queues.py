"""`/ui/queues`: where jobs wait, and who makes the machines that run them."""

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import show
from weft.api.use_cases import queues


@get("/ui/queues", include_in_schema=False)
async def show_queues(request: AnyRequest) -> Response[bytes]:
    """Show queues in the order of routing, and pools."""
    Query(request, ())
    services, caller = services_of(request), caller_of(request)
    return show(
        request,
        "queues.html",
        here="/ui/queues",
        queues=await queues.list_queues(services, caller),
        pools=await services.store.list_pools(caller),
    )


ROUTES = (show_queues,)
"""The routes of queues."""
