"""Whom a pool serves next."""

from weft.api.calls.path_ids import POOL
from weft.api.http.paging import KIND, LIMIT_MAX, PAGE, after_of, last_of, page_until
from weft.api.http.parameters import pool_of
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.api.use_cases import pools
from weft.core.access.rights import Right
from weft.wire.answers.pools import PoolShare


@get(
    "/v1/pools/{p:str}/shares",
    Right.READ,
    opt={"page": PoolShare, "query": PAGE, "path": {"p": POOL}},
)
async def list_shares(request: AnyRequest) -> Response[bytes]:
    """List the users with work in a pool in the order in which they are served next, then those
    who only run jobs: what each runs, and would run if what runs now were shared fairly. Users who
    do not see the tenant get their own.
    """
    query = request.query
    services, caller = request.services, request.caller
    page = await pools.list_shares(
        services,
        caller,
        pool_of(request),
        limit=query.integer("limit", default=None, least=1, most=LIMIT_MAX) or LIMIT_MAX,
        after=after_of(query),
    )
    return reply(page_until(page.rows, KIND, last_of(page.next)))
