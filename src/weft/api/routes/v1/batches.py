"""`/v1/batches`: list them."""

from typing import Final

from weft.api.http.paging import ORDER, PAGE, BatchPage, limit_of
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.api.use_cases import read
from weft.core.access.rights import Right
from weft.wire.answers.batches import Batch, Plan

_LIST: Final = ("name", "q", "hidden", *ORDER, "explain", *PAGE)


@get("/v1/batches", Right.READ, opt={"page": Batch, "explained": Plan, "query": _LIST})
async def list_batches(request: AnyRequest) -> Response[bytes]:
    """List batches, newest first, or as `sort` says. `q`: only batches that match this query;
    `name`: only batches of exactly this name; `hidden=true`: also hidden batches; `explain=true`:
    show how the query would run instead of running it.
    """
    query = request.query
    services, caller = request.services, request.caller
    asked = BatchPage(query, query.text("q"), query.text("name"), query.text("hidden"))
    wanted = read.BatchList(
        limit=limit_of(query, services.settings),
        before=asked.before,
        order=asked.order,
        after=asked.after,
        query=query.text("q"),
        name=query.text("name"),
        hidden=query.flag("hidden"),
    )
    if query.flag("explain"):
        return reply(await read.explain_batches(services, caller, wanted))
    rows, last = await read.page_of_batches(services, caller, wanted)
    found = asked.document(rows, last)
    if asked.is_first and not rows:
        warnings = await read.doubt_batches(services, caller, wanted)
        found |= {"warnings": warnings} if warnings else {}
    return reply(found)
