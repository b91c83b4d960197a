"""`/ui/costs`: what billing projects cost, and one of them by resource and day."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from weft.api.http.pages import get_page, link, show
from weft.api.http.paging import INT_MAX, cursor_of, page_until
from weft.api.http.parameters import Query, project_of, wrong_parameter
from weft.api.http.report_parameters import day_of, kind_of_report
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response
from weft.api.services import Services
from weft.api.use_cases import reports
from weft.core.access.rights import Right
from weft.core.billing.reports import DIVISIONS, sum_of
from weft.core.errors import ProjectNotFound, ReportTooLarge, WeftError
from weft.ports.store import Caller, ReportQuery, Row

DAYS: Final = 60
ROWS: Final = 100
PROJECTS: Final = 50
MEMBERS: Final = 20
USUAL_DAYS: Final = 30
"""Of which the report is unless the reader says otherwise."""
DAYS_MAX: Final = 366
REPORT: Final = ("by", "key", "project", "first_day", "last_day")


@get_page("/ui/costs", Right.READ, query=(*REPORT, "after", "cursor"))
async def show_costs(request: AnyRequest) -> Response[bytes]:
    """Show the caller's billing projects, `after`: those after this one, and what all of them cost
    by what the reader chose, `cursor`: the rows after the page before.
    """
    query = request.query
    services, caller, after = request.services, request.caller, query.text("after")
    projects = await services.store.list_projects(
        caller, None, after=after, limit=PROJECTS, members=MEMBERS
    )
    asked = _asked_of(query)
    kind = kind_of_report(asked)
    asked = replace(asked, after=cursor_of(query, kind, most=INT_MAX), limit=ROWS)
    form = _form_of(query, asked)
    report = await _report_of(services, caller, asked)
    more = len(projects) == PROJECTS
    by = f"attribute={asked.attribute}" if asked.attribute else asked.by
    following = page_until(report.rows, kind, report.next)["cursor"]
    return show(
        request,
        "costs.html",
        here="/ui/costs",
        projects=projects,
        after=after,
        next=link("/ui/costs", {**form, "after": projects[-1]["name"]}) if more else None,
        divisions=(*DIVISIONS, "attribute"),
        chosen=form,
        rows=report.rows[:ROWS],
        n_rows=len(report.rows),
        of_all=report.total or sum(float(row["cost"]) for row in report.rows),
        total=report.total,
        problem=report.problem,
        status=200 if report.problem is None else report.problem.status,
        cursor=asked.after,
        first_rows=link("/ui/costs", form),
        next_rows=following and link("/ui/costs", {**form, "cursor": following}),
        csv=link("/v1/billing/report", {**form, "key": None, "by": by, "format": "csv"}),
    )


@dataclass(frozen=True)
class _Report:
    """A page of a report."""

    rows: Sequence[Row] = ()
    next: int | None = None
    total: float | None = None
    """Of all pages; None: it would add up too many projects."""
    problem: WeftError | None = None
    """Why there is none."""


async def _report_of(services: Services, caller: Caller, query: ReportQuery) -> _Report:
    """Return the page that is asked for: the dearest first, if all rows fit in one."""
    try:
        _check_days(query)
        page = await reports.report(services, caller, query)
    except (ProjectNotFound, ReportTooLarge) as error:
        return _Report(problem=error)
    rows, total = page.rows, None
    with suppress(ReportTooLarge):
        whole = await reports.report(services, caller, replace(query, by="resource", after=None))
        total = float(sum_of(whole.rows))
    if page.next is None and query.after is None and query.by != "day":
        rows = sorted(rows, key=lambda row: -float(row["cost"]))
    return _Report(rows, page.next, total)


def _check_days(query: ReportQuery) -> None:
    first, last = query.first_day, query.last_day
    if first is not None and last is not None and (last - first).days >= DAYS_MAX:
        raise ReportTooLarge(
            "the report covers too many days",
            detail=f"From {first} to {last} there are {(last - first).days + 1:,} days; a page "
            f"adds up at most {DAYS_MAX}.",
            hint="Choose a shorter period; the CSV and `weft billing report` have no such limit.",
        )


def _asked_of(query: Query) -> ReportQuery:
    """Return what the form asks for; its empty fields say nothing."""
    by, key = query.text("by") or DIVISIONS[0], query.text("key") or None
    if by == "attribute" and not key:
        raise wrong_parameter("key", "a report by attribute needs the key of one")
    if by not in {*DIVISIONS, "attribute"}:
        raise wrong_parameter("by", f"{by[:40]!r} is not one of {', '.join(DIVISIONS)}, attribute")
    first = day_of(query.text("first_day") or None, "first_day")
    last = day_of(query.text("last_day") or None, "last_day") or datetime.now(UTC).date()
    if first is None:
        first = last - min(timedelta(days=USUAL_DAYS - 1), last - date.min)
    return ReportQuery(
        by=by,
        attribute=key if by == "attribute" else None,
        project=query.text("project") or None,
        first_day=first,
        last_day=last,
    )


def _form_of(query: Query, asked: ReportQuery) -> dict[str, str | None]:
    """Return what stands in the fields of the form."""
    return {
        "by": asked.by,
        "key": query.text("key") or None,
        "project": asked.project,
        "first_day": str(asked.first_day),
        "last_day": str(asked.last_day),
    }


@get_page("/ui/costs/{p:str}", Right.READ)
async def show_project(request: AnyRequest) -> Response[bytes]:
    """Show what a billing project cost, by resource and by day."""
    services, caller, name = request.services, request.caller, project_of(request)
    (project,) = await services.store.list_projects(caller, name, members=0)
    days = await services.store.list_project_days(caller, name, before=None, limit=DAYS)
    return show(
        request,
        "project.html",
        here="/ui/costs",
        project=project,
        days=days,
        dearest=max((day["cost"] for day in days), default=0),
    )
