"""`/v1/billing-projects` and `/v1/rates`: projects, costs by project and day, members, prices."""

from datetime import date

from weft.api.http.paging import PAGE, cursor_text, limit_of, page, wrong_cursor
from weft.api.http.parameters import Query, project_of, wrong_parameter
from weft.api.http.problem_documents import reply
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.core.access.rights import Right
from weft.wire.answers.billing import DayCost

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
