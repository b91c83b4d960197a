"""`/ui/workers`: who runs jobs."""

from typing import Final

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import show

SHOWN_MAX: Final = 500


@get("/ui/workers", include_in_schema=False)
async def show_workers(request: AnyRequest) -> Response[bytes]:
    """Show the workers by name."""
    Query(request, ())
    rows = await services_of(request).store.list_workers(
        caller_of(request), with_deleted=False, limit=SHOWN_MAX
    )
    return show(request, "workers.html", here="/ui/workers", rows=rows)


ROUTES = (show_workers,)
"""The routes of workers."""
