"""`/ui/conditions`: what jobs wait for together, and one such condition with its jobs."""

from typing import Final

from weft.api.http.pages import get_page, link, show
from weft.api.http.paging import cursor_of, page
from weft.api.http.parameters import condition_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.use_cases import conditions
from weft.core.access.rights import Right

PLACE: Final = "/ui/conditions"
ROWS: Final = 50
INCIDENTS: Final = "/ui/incidents"


@get_page(PLACE, Right.READ, query=("cursor",))
async def show_conditions(request: AnyRequest) -> Response[bytes]:
    """Show what blocked jobs wait for together, the oldest first."""
    query = request.query
    services, after = request.services, cursor_of(query, "c")
    rows = await services.store.list_conditions(request.caller, after_id=after or 0, limit=ROWS)
    cursor = page(rows, ROWS, "c", "condition_id")["cursor"]
    return show(
        request,
        "conditions.html",
        here=INCIDENTS,
        conditions=rows,
        cursor=after,
        next=cursor and link(PLACE, {"cursor": cursor}),
    )


@get_page(PLACE + "/{c:str}", Right.READ)
async def show_condition(request: AnyRequest) -> Response[bytes]:
    """Show a condition: how it is tested, what the last test said, and the jobs due first."""
    condition = await conditions.get_condition(
        request.services, request.caller, condition_id_of(request)
    )
    return show(request, "condition.html", here=INCIDENTS, one=condition)
