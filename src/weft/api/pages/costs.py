"""`/ui/costs`: what billing projects cost, and one of them by resource and day."""

from typing import Final

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.path_ids import project_of
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import show

DAYS: Final = 60


@get("/ui/costs", include_in_schema=False)
async def show_costs(request: AnyRequest) -> Response[bytes]:
    """Show the caller's billing projects."""
    Query(request, ())
    projects = await services_of(request).store.list_projects(caller_of(request), None)
    return show(request, "costs.html", here="/ui/costs", projects=projects)


@get("/ui/costs/{p:str}", include_in_schema=False)
async def show_project(request: AnyRequest) -> Response[bytes]:
    """Show what a billing project cost, by resource and by day."""
    Query(request, ())
    services, caller, name = services_of(request), caller_of(request), project_of(request)
    (project,) = await services.store.list_projects(caller, name)
    days = await services.store.list_project_days(caller, name, before=None, limit=DAYS)
    return show(
        request,
        "project.html",
        here="/ui/costs",
        project=project,
        days=days,
        dearest=max((one["cost"] for one in days), default=0),
    )


ROUTES = (show_costs, show_project)
"""The routes of costs."""
