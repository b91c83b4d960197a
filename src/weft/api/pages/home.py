"""`/ui`: what happens now."""

from typing import Final

from litestar import Response, get
from litestar.response import Redirect

from weft.api.http.parameters import Query
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import show
from weft.api.use_cases import read

BATCHES: Final = 20
INCIDENTS: Final = 20


@get("/", include_in_schema=False)
async def show_root(request: AnyRequest) -> Redirect:
    """Lead to the pages."""
    Query(request, ())
    return Redirect("/ui", status_code=303)


@get("/ui", include_in_schema=False)
async def show_home(request: AnyRequest) -> Response[bytes]:
    """Show what runs and waits, incidents, and the newest batches."""
    Query(request, ())
    services, caller = services_of(request), caller_of(request)
    return show(
        request,
        "home.html",
        here="/ui",
        overview=await services.store.overview(caller),
        conditions=await services.store.list_conditions(caller, after_id=0, limit=INCIDENTS),
        rows=await read.list_batches(services, caller, read.BatchList(limit=BATCHES)),
    )


ROUTES = (show_root, show_home)
"""The routes of the first page."""
