"""`/ui`: what happens now, and happened in the last hour."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from weft.api.http.pages import get_page, show
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import OPEN, Redirect, Response
from weft.api.services import Services
from weft.api.use_cases import read, reports
from weft.api.use_cases.conditions import failing_lines
from weft.core.access.rights import Right
from weft.core.billing.reports import sum_of
from weft.core.errors import ReportTooLarge
from weft.core.pictures.charts import stacked
from weft.ports.store import Caller, ReportQuery

BATCHES: Final = 20
INCIDENTS: Final = 20
PROJECTS: Final = 10
FIRST_PROJECTS: Final = 20
USED_PROJECTS: Final = 100
"""Of so many that cost something today the dearest are found; of more the first are shown."""
WIDTH, HEIGHT = 600, 100
LEVELS: Final = {"n_running": "running", "n_waiting": "waiting"}
ENDS: Final = {"n_succeeded": "success", "n_failed": "failed", "n_cancelled": "cancelled"}


@get_page("/", OPEN)
async def show_root() -> Redirect:
    """Lead to the pages."""
    return Redirect("/ui", status_code=303)


@get_page("/ui", Right.READ)
async def show_home(request: AnyRequest) -> Response[bytes]:
    """Show incidents, what runs and waits, the last hour, costs, and the newest batches."""
    services, caller = request.services, request.caller
    workers = await services.store.sum_workers(caller, limit=INCIDENTS)
    minutes = await services.store.list_minutes(caller)
    return show(
        request,
        "home.html",
        here="/ui",
        overview=await services.store.overview_counts(caller),
        workers=workers,
        conditions=await services.store.list_conditions(caller, after_id=0, limit=INCIDENTS),
        failing=(await failing_lines(services, caller))[:INCIDENTS],
        minutes=minutes,
        levels=stacked(minutes, tuple(LEVELS), width=WIDTH, height=HEIGHT),
        ends=stacked(minutes, tuple(ENDS), width=WIDTH, height=HEIGHT),
        words_of_levels=LEVELS,
        words_of_ends=ENDS,
        **await _costs_today(services, caller),
        rows=await read.list_batches(services, caller, read.BatchList(limit=BATCHES)),
    )


async def _costs_today(services: Services, caller: Caller) -> Mapping[str, Any]:
    """Return what all cost today, and projects: those that cost something, the dearest first; then
    those that have a limit, of the first ones by name.
    """
    today = datetime.now(UTC).date()
    query = ReportQuery(by="project", first_day=today, last_day=today, limit=USED_PROJECTS)
    used = await reports.report(services, caller, query)
    cost = {row["name"]: float(row["cost"]) for row in used.rows}
    dearest = sorted(cost, key=lambda name: -cost[name])[:PROJECTS]
    found = {
        one["name"]: {**one, "today": cost.get(one["name"], 0.0)}
        for one in (
            *await services.store.list_projects(caller, None, names=dearest, members=0),
            *await services.store.list_projects(caller, None, limit=FIRST_PROJECTS, members=0),
        )
    }
    wanted = [one for one in found.values() if one["today"] or one["cost_max"] is not None]
    try:
        whole = await reports.report(services, caller, replace(query, by="resource"))
        total = float(sum_of(whole.rows))
    except ReportTooLarge:
        total = None
    return {
        "cost_today": total,
        "has_more_costs": used.next is not None,
        "projects": sorted(wanted, key=lambda one: -float(one["today"]))[:PROJECTS],
    }
