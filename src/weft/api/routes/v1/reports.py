"""`/v1/billing/report`: what billing projects cost, by whom and for what, as JSON or CSV."""

from datetime import date
from typing import Final

from litestar import Response, get

from weft.api.http.parameters import Query, wrong_parameter
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.core.reports import Division, csv_of, parse_division, sum_of
from weft.ports.store import ReportQuery
from weft.wire.report_answers import BillingReport

PARAMETERS: Final = ("by", "project", "first_day", "last_day", "format")
FORMATS: Final = ("json", "csv")
CSV: Final = "text/csv"


@get(
    "/v1/billing/report",
    opt={"answer": BillingReport, "also": (CSV,), "query": PARAMETERS, "refuses": (422,)},
)
async def billing_report(request: AnyRequest) -> Response[bytes]:
    """Report what billing projects cost, by `project`, `user`, `day`, `resource` or the value of
    an attribute of their batches. Members see their projects, operators those of the tenant.
    `Accept: text/csv` or `format=csv`: as CSV.
    """
    query = Query(request, PARAMETERS)
    services, caller = services_of(request), caller_of(request)
    by = query.text("by")
    by = "project" if by is None else by
    division = _division_of(by)
    asked = ReportQuery(
        by=division.by,
        attribute=division.attribute,
        project=query.text("project"),
        first_day=_day_of(query, "first_day"),
        last_day=_day_of(query, "last_day"),
    )
    rows = await services.store.billing_report(
        caller, asked, rows_max=services.settings.report_batches_max
    )
    if _is_csv(request, query):
        return Response(
            csv_of(division.title, rows).encode(),
            media_type=f"{CSV}; header=present",
            headers={"content-disposition": 'attachment; filename="report.csv"'},
        )
    return reply(
        {
            "by": by,
            "project": asked.project,
            "first_day": asked.first_day,
            "last_day": asked.last_day,
            "cost": sum_of(rows),
            "items": rows,
        }
    )


def _division_of(by: str) -> Division:
    try:
        return parse_division(by)
    except ValueError as error:
        raise wrong_parameter("by", str(error)) from error


def _day_of(query: Query, name: str) -> date | None:
    text = query.text(name)
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise wrong_parameter(name, "it is not a date such as 2026-01-31") from error


def _is_csv(request: AnyRequest, query: Query) -> bool:
    if query.text("format") is None:
        accepted = request.headers.get("accept", "")
        return CSV in accepted and "application/json" not in accepted
    return query.choice("format", FORMATS) == "csv"


ROUTES = (billing_report,)
"""The routes of reports."""
