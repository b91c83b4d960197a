"""`/v1/billing-projects` and `/v1/rates`: projects, costs by project and day, members, prices."""

from datetime import date

from litestar import Response, delete, get, patch, post, put

from weft.api.http.paging import PAGE, cursor_text, limit_of, page, wrong_cursor
from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.path_ids import project_of, user_of
from weft.api.http.replies import created, reply
from weft.api.http.requests import (
    AnyRequest,
    caller_of,
    read_document,
    read_submission,
    services_of,
)
from weft.api.use_cases import projects
from weft.wire.answers.billing import DayCost, ProjectCost, ProjectDeleted, RateCard
from weft.wire.documents.batches import Empty
from weft.wire.documents.billing import ProjectDocument, ProjectEdit

DAYS = (*PAGE, "before")


@get("/v1/billing-projects", opt={"page": ProjectCost})
async def list_projects(request: AnyRequest) -> Response[bytes]:
    """List the billing projects that the caller is a member of, with what they cost so far; for
    somebody who manages the tenant, all of it.
    """
    Query(request, ())
    rows = await services_of(request).store.list_projects(caller_of(request), None)
    return reply({"items": rows, "cursor": None})


@get("/v1/billing-projects/{p:str}", opt={"answer": ProjectCost})
async def get_project(request: AnyRequest) -> Response[bytes]:
    """Get what a billing project cost so far, and its members."""
    Query(request, ())
    return reply(
        await projects.get_project(services_of(request), caller_of(request), project_of(request))
    )


@post(
    "/v1/billing-projects", opt={"answer": ProjectCost, "body": ProjectDocument, "creates": True}
)
async def create_project(request: AnyRequest) -> Response[bytes]:
    """Create a billing project, with the caller as its first member."""
    Query(request, ())
    document, origin = await read_submission(request, ProjectDocument)
    answer = await projects.create_project(
        services_of(request), caller_of(request), document, origin
    )
    return created(answer, is_new=True)


@patch("/v1/billing-projects/{p:str}", opt={"answer": ProjectCost, "body": ProjectEdit})
async def change_project(request: AnyRequest) -> Response[bytes]:
    """Close or reopen a billing project, or change its limit. A closed one takes no new batches
    and schedules; the batches that it has go on.
    """
    Query(request, ())
    edit = await read_document(request, ProjectEdit)
    return reply(
        await projects.change_project(
            services_of(request), caller_of(request), project_of(request), edit
        )
    )


@delete(
    "/v1/billing-projects/{p:str}", status_code=200, opt={"answer": ProjectDeleted, "body": Empty}
)
async def delete_project(request: AnyRequest) -> Response[bytes]:
    """Delete a closed billing project. Its name stays taken, because bills have it."""
    Query(request, ())
    await read_document(request, Empty)
    return reply(
        await projects.delete_project(
            services_of(request), caller_of(request), project_of(request)
        )
    )


@put("/v1/billing-projects/{p:str}/members/{user:str}", opt={"answer": ProjectCost, "body": Empty})
async def add_member(request: AnyRequest) -> Response[bytes]:
    """Let a user of the tenant submit batches to a billing project."""
    return await _set_member(request, is_member=True)


@delete(
    "/v1/billing-projects/{p:str}/members/{user:str}",
    status_code=200,
    opt={"answer": ProjectCost, "body": Empty},
)
async def remove_member(request: AnyRequest) -> Response[bytes]:
    """Let a user submit no more batches to a billing project. Those that they have go on."""
    return await _set_member(request, is_member=False)


async def _set_member(request: AnyRequest, *, is_member: bool) -> Response[bytes]:
    Query(request, ())
    await read_document(request, Empty)
    services, caller = services_of(request), caller_of(request)
    name, user = project_of(request), user_of(request)
    return reply(await projects.set_member(services, caller, name, user, is_member=is_member))


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


ROUTES = (
    list_projects,
    get_project,
    create_project,
    change_project,
    delete_project,
    add_member,
    remove_member,
    list_project_days,
    list_rates,
)
