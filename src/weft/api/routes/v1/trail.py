"""`/v1/trail`: who changed what, when and from where, for administrators of the tenant."""

from typing import Final

from weft.api.http.paging import PAGE, cursor_of, kind_of, limit_of, page
from weft.api.http.parameters import Query
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.http.routing import Response, get
from weft.api.http.visits import require_reading
from weft.core.access.rights import Right, require
from weft.core.ids import parse_batch_id
from weft.ports.store import TrailQuery
from weft.wire.answers.trail import TrailEntry

FILTERS: Final = ("user", "action", "batch", "number", "from", "all_tenants")
NUMBER_MAX: Final = 10**18 - 1


@get("/v1/trail", opt={"page": TrailEntry, "query": (*FILTERS, *PAGE)})
async def list_trail(request: AnyRequest) -> Response[bytes]:
    """List requests that changed something or were refused, newest first, within a second."""
    query = Query(request, (*FILTERS, *PAGE))
    services, caller = services_of(request), caller_of(request)
    all_tenants = query.flag("all_tenants")
    if all_tenants:
        if caller.visit is not None:
            require_reading(caller.visit, Right.ADMINISTER, "GET", {})
        require(Right.ADMINISTER, caller.user_name, caller.role, caller.scopes)
    limit = limit_of(query, services.settings)
    kind = kind_of("a", *map(query.text, FILTERS))
    batch = query.text("batch")
    rows = await services.store.list_trail(
        caller,
        TrailQuery(
            user=query.text("user"),
            action=query.text("action"),
            batch_id=None if batch is None else parse_batch_id(batch),
            number=query.integer("number", default=None, least=1, most=NUMBER_MAX),
            since=query.moment("from"),
        ),
        before=cursor_of(query, kind),
        limit=limit,
        all_tenants=all_tenants,
    )
    return reply(page(rows, limit, kind, "number"))


ROUTES = (list_trail,)
"""The routes of the trail."""
