"""`/ui/incidents`: what jobs wait for together, and jobs that failed for good."""

from typing import Final

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import show
from weft.api.use_cases import failures

SHOWN_MAX: Final = 100


@get("/ui/incidents", include_in_schema=False)
async def show_incidents(request: AnyRequest) -> Response[bytes]:
    """Show conditions, and failed jobs that nobody has acknowledged."""
    Query(request, ())
    services, caller = services_of(request), caller_of(request)
    wanted = failures.DeadLetterList(limit=SHOWN_MAX)
    return show(
        request,
        "incidents.html",
        here="/ui/incidents",
        conditions=await services.store.list_conditions(caller, after_id=0, limit=SHOWN_MAX),
        letters=await failures.list_dead_letters(services, caller, wanted),
        shown_max=SHOWN_MAX,
    )


ROUTES = (show_incidents,)
"""The routes of incidents."""
