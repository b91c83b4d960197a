"""Pages of `/v1/pools` and `/v1/billing-projects`: whom a pool serves next, costs by day."""

from datetime import date

from weft.api.calls.path_ids import POOL
from weft.api.http.paging import (
    KIND,
    LIMIT_MAX,
    PAGE,
    after_of,
    cursor_text,
    last_of,
    limit_of,
    page,
    page_until,
    wrong_cursor,
)
from weft.api.http.parameters import Query, pool_of, project_of, wrong_parameter
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.api.use_cases import pools
from weft.core.access.rights import Right
from weft.wire.answers.pools import PoolShare
from weft.wire.answers.projects import DayCost


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


DAYS = (*PAGE, "before")


@get("/v1/billing-projects/{p:str}/days", Right.READ, opt={"page": DayCost, "query": DAYS})
async def list_project_days(request: AnyRequest) -> Response[bytes]:
    """List what a project cost on each date (UTC), newest first. `before`: only earlier dates."""
    query = request.query
    services, name = request.services, project_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_project_days(
        request.caller, name, before=_before(query), limit=limit
    )
    return reply(page(rows, limit, "d", "date"))


def _before(query: Query) -> date | None:
    """Return the date before which the page begins: from the cursor, else from `before`."""
    last, text = cursor_text(query, "d"), query.text("before")
    try:
        if last is not None:
            return date.fromisoformat(last)
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        if last is not None:
            raise wrong_cursor() from error
        raise wrong_parameter("before", "it is not a date such as 2026-01-31") from error
