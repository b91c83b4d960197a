"""`/ui/queues` and `/ui/pools/{p}`: where jobs wait, whose turn it is, and who makes the machines
that run them.
"""

from typing import Any, Final

from litestar import Response, get, post

from weft.api.http.decoding import JSON, decode
from weft.api.http.parameters import Query
from weft.api.http.path_ids import pool_of
from weft.api.http.requests import AnyRequest, caller_of, services_of, trace_id_of
from weft.api.pages.forms import check_form
from weft.api.pages.view import show
from weft.api.services import Origin
from weft.api.use_cases import pools, queues
from weft.core.errors import WeftError
from weft.wire.documents import BatchDocument

CHANGES: Final = 50
MACHINES: Final = 200
COSTS: Final = 30
EXAMPLE: Final = '{"jobs": [{"command": ["true"], "resources": {"cpu": 2}}]}'


@get("/ui/queues", include_in_schema=False)
async def show_queues(request: AnyRequest) -> Response[bytes]:
    """Show queues in the order of routing, and pools."""
    Query(request, ())
    return await _show(request, document=EXAMPLE)


@post("/ui/queues/test", status_code=200, include_in_schema=False)
async def test_guards(request: AnyRequest) -> Response[bytes]:
    """Show the same, and which queue takes each job of a document."""
    form = await check_form(request)
    text = (form.get("document") or [""])[-1]
    try:
        document = decode(text.encode(), JSON, BatchDocument)
        origin = Origin(digest=b"", trace_id=trace_id_of(request))
        found = await queues.test_queues(
            services_of(request), caller_of(request), document, origin
        )
    except WeftError as error:
        return await _show(
            request, document=text, problem=error, status=error.status, events=""
        )  # fmt: skip
    return await _show(request, document=text, routes=found["routes"], events="")


async def _show(
    request: AnyRequest,
    **values: Any,  # noqa: ANN401 (what the template shows)
) -> Response[bytes]:
    services, caller = services_of(request), caller_of(request)
    found = await queues.list_queues(services, caller)
    rows = await services.store.list_pools(caller)
    known: dict[str, Any] = {"problem": None, "routes": None}
    return show(
        request, "queues.html", here="/ui/queues", queues=found, pools=rows, **(known | values)
    )


@get("/ui/pools/{p:str}", include_in_schema=False)
async def show_pool(request: AnyRequest) -> Response[bytes]:
    """Show a pool: who runs how much there and who waits, its machines, what was decided about
    them and what they cost.
    """
    Query(request, ())
    services, caller, name = services_of(request), caller_of(request), pool_of(request)
    pool = await pools.get_pool(services, caller, name)
    changes = await pools.list_pool_changes(services, caller, name)
    costs = await pools.list_pool_costs(services, caller, name)
    return show(
        request,
        "pool.html",
        here="/ui/queues",
        pool=pool,
        machines=pool["machine_list"][:MACHINES],
        shares=await pools.list_shares(services, caller, name),
        changes=changes[:CHANGES],
        costs=costs[:COSTS],
    )


ROUTES = (show_queues, test_guards, show_pool)
"""The routes of queues and pools."""
