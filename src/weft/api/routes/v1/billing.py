"""`/v1/billing-projects` and `/v1/rates`: costs by project and day, members, prices."""

from datetime import date

from litestar import Response, get

from weft.api.http.paging import PAGE, cursor_text, limit_of, page, wrong_cursor
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.path_ids import project_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.wire.billing_answers import DayCost, ProjectCost, RateCard

DAYS = (*PAGE, "before")


@get("/v1/billing-projects", opt={"page": ProjectCost})
async def list_projects(request: AnyRequest) -> Response[bytes]:
    """List the billing projects that the caller is a member of, with what they cost so far."""
    Query(request, ())
    rows = await services_of(request).store.list_projects(caller_of(request), None)
    return reply({"items": rows, "cursor": None})


@get("/v1/billing-projects/{p:str}", opt={"answer": ProjectCost})
async def get_project(request: AnyRequest) -> Response[bytes]:
    """Get what a billing project cost so far, and its members."""
    Query(request, ())
    store, name = services_of(request).store, project_of(request)
    return reply((await store.list_projects(caller_of(request), name))[0])


@get("/v1/billing-projects/{p:str}/days", opt={"page": DayCost, "query": DAYS})
async def list_project_days(request: AnyRequest) -> Response[bytes]:
    """List what a billing project cost on each date (UTC), newest first. `before`: only dates
    before this one.
    """
    query = Query(request, DAYS)
    services, name = services_of(request), project_of(request)
    limit = limit_of(query, services.settings)
    rows = await services.store.list_project_days(
        caller_of(request), name, before=_before(query), limit=limit
    )
    return reply(page(rows, limit, "d", "date"))


@get("/v1/rates", opt={"page": RateCard})
async def list_rates(request: AnyRequest) -> Response[bytes]:
    """List all prices, newest first. An attempt keeps the prices at its claim."""
    Query(request, ())
    rows = await services_of(request).store.list_rates(caller_of(request))
    return reply({"items": rows, "cursor": None})


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


ROUTES = (list_projects, get_project, list_project_days, list_rates)
