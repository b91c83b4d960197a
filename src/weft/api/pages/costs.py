"""`/ui/costs`: what billing projects cost, and one of them by resource and day."""

from collections.abc import Mapping, Sequence
from typing import Final

from litestar import Response, get

from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.path_ids import project_of
from weft.api.http.report_parameters import day_of
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.pages.view import link, show
from weft.core.errors import ProjectNotFound, ReportTooLarge, WeftError
from weft.core.reports import DIVISIONS, sum_of
from weft.ports.store import ReportQuery, Row

DAYS: Final = 60
ROWS: Final = 200
PROJECTS: Final = 50
REPORT: Final = ("by", "key", "project", "first_day", "last_day")


@get("/ui/costs", include_in_schema=False)
async def show_costs(request: AnyRequest) -> Response[bytes]:
    """Show the caller's billing projects, `after`: those after this one, and what all of them cost
    by what the reader chose.
    """
    query = Query(request, (*REPORT, "after"))
    services, caller, after = services_of(request), caller_of(request), query.text("after")
    chosen = {name: query.text(name) or None for name in REPORT}
    asked = _asked_of(chosen)
    rows: Sequence[Row] = ()
    problem: WeftError | None = None
    try:
        most = services.settings.report_batches_max
        rows = await services.store.billing_report(caller, asked, rows_max=most)
    except (ProjectNotFound, ReportTooLarge) as error:
        problem = error
    rows = sorted(rows, key=lambda row: -float(row["cost"])) if asked.by != "day" else rows
    projects = await services.store.list_projects(caller, None, after=after, limit=PROJECTS)
    more = len(projects) == PROJECTS
    by = chosen["by"] or DIVISIONS[0]
    parameters = {**chosen, "by": f"attribute={asked.attribute}" if asked.attribute else by}
    del parameters["key"]
    return show(
        request,
        "costs.html",
        here="/ui/costs",
        projects=projects,
        after=after,
        next=link("/ui/costs", {**chosen, "after": projects[-1]["name"]}) if more else None,
        divisions=(*DIVISIONS, "attribute"),
        chosen={**chosen, "by": by},
        rows=rows[:ROWS],
        n_rows=len(rows),
        dearest=max((float(row["cost"]) for row in rows), default=0),
        total=float(sum_of(rows)),
        problem=problem,
        status=200 if problem is None else problem.status,
        csv=link("/v1/billing/report", {**parameters, "format": "csv"}),
    )


def _asked_of(chosen: Mapping[str, str | None]) -> ReportQuery:
    """Return what the form asks for; its empty fields say nothing."""
    by, key = chosen["by"] or DIVISIONS[0], chosen["key"]
    if by == "attribute" and not key:
        raise wrong_parameter("key", "a report by attribute needs the key of one")
    if by not in {*DIVISIONS, "attribute"}:
        raise wrong_parameter("by", f"{by[:40]!r} is not one of {', '.join(DIVISIONS)}, attribute")
    return ReportQuery(
        by=by,
        attribute=key if by == "attribute" else None,
        project=chosen["project"],
        first_day=day_of(chosen["first_day"], "first_day"),
        last_day=day_of(chosen["last_day"], "last_day"),
    )


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
