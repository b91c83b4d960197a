"""`/v1/pools`: where workers are, and who makes them."""

from litestar import Response, get, put

from weft.api.http.paging import LIMIT_MAX, PAGE, page_until
from weft.api.http.parameters import Query
from weft.api.http.path_ids import pool_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, read_document, services_of
from weft.api.http.share_pages import KIND, after_of, last_of
from weft.api.use_cases import pools
from weft.wire.answers.pools import (
    PoolAnswer,
    PoolChange,
    PoolCost,
    PoolShare,
    PoolsSaved,
    ShownPool,
)
from weft.wire.documents.pools import PoolsDocument


@get("/v1/pools", opt={"page": PoolAnswer})
async def list_pools(request: AnyRequest) -> Response[bytes]:
    """List the pools by name: those of the tenant, and those that all tenants share."""
    Query(request, ())
    rows = await services_of(request).store.list_pools(caller_of(request))
    return reply({"items": rows, "cursor": None})


@put("/v1/pools", opt={"answer": PoolsSaved, "body": PoolsDocument, "refuses": (409,)})
async def save_pools(request: AnyRequest) -> Response[bytes]:
    """Make these the pools that are described. Others keep their workers; a
    pool with machines has to stay described.
    """
    Query(request, ())
    document = await read_document(request, PoolsDocument)
    return reply(await pools.save_pools(services_of(request), caller_of(request), document))


@get("/v1/pools/{p:str}", opt={"answer": ShownPool})
async def get_pool(request: AnyRequest) -> Response[bytes]:
    """Get a pool with its machines."""
    Query(request, ())
    found = await pools.get_pool(services_of(request), caller_of(request), pool_of(request))
    return reply(found)


@get("/v1/pools/{p:str}/log", opt={"page": PoolChange})
async def list_pool_changes(request: AnyRequest) -> Response[bytes]:
    """List what was decided about a pool, and why, newest first; the newest 1,000 are kept."""
    Query(request, ())
    services, caller = services_of(request), caller_of(request)
    rows = await pools.list_pool_changes(services, caller, pool_of(request))
    return reply({"items": rows, "cursor": None})


@get("/v1/pools/{p:str}/cost", opt={"page": PoolCost})
async def list_pool_costs(request: AnyRequest) -> Response[bytes]:
    """List what the machines of a pool cost by date (UTC) and flavour, and what of it jobs used,
    newest first; the newest 400 dates.
    """
    Query(request, ())
    services, caller = services_of(request), caller_of(request)
    rows = await pools.list_pool_costs(services, caller, pool_of(request))
    return reply({"items": rows, "cursor": None})


@get("/v1/pools/{p:str}/shares", opt={"page": PoolShare, "query": PAGE})
async def list_shares(request: AnyRequest) -> Response[bytes]:
    """List the users with work in a pool in the order in which they are served next, then those
    who only run jobs: what each runs, and would run if what runs now were shared fairly. Users who
    do not see the tenant get their own.
    """
    query = Query(request, PAGE)
    services, caller = services_of(request), caller_of(request)
    found = await pools.list_shares(
        services,
        caller,
        pool_of(request),
        limit=query.integer("limit", default=None, least=1, most=LIMIT_MAX) or LIMIT_MAX,
        after=after_of(query),
    )
    return reply(page_until(found.rows, KIND, last_of(found.next)))


ROUTES = (list_pools, save_pools, get_pool, list_pool_changes, list_pool_costs, list_shares)
