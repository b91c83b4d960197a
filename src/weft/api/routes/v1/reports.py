"""`/v1/billing/report`: what billing projects cost, by whom and for what, as JSON or CSV."""

from typing import Final

from weft.api.http.paging import PAGE, page_until
from weft.api.http.parameters import Query
from weft.api.http.problem_documents import reply
from weft.api.http.report_parameters import kind_of_report, report_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import Response, get
from weft.api.use_cases import reports
from weft.core.access.rights import Right
from weft.core.billing.reports import csv_of, sum_of
from weft.wire.answers.billing import BillingReport

PARAMETERS: Final = ("by", "project", "first_day", "last_day", "format", *PAGE)
FORMATS: Final = ("json", "csv")
CSV: Final = "text/csv"


@get(
    "/v1/billing/report",
    Right.READ,
    opt={"answer": BillingReport, "also": (CSV,), "query": PARAMETERS, "refuses": (422,)},
)
async def billing_report(request: AnyRequest) -> Response[bytes]:
    """Report what billing projects cost, by `project`, `user`, `day`, `resource` or the value of
    an attribute of their batches. Members see their projects, operators those of the tenant.
    `Accept: text/csv` or `format=csv`: as CSV. `limit`: at most this number of projects, users
    or days, in the order in which they came to be; the page has the cost of its rows, and a report
    by `resource` that of all. It adds up at most 100 projects of a member and, by attribute, 1,000
    sums of batches; by attribute and `resource` there is one page.
    """
    query = request.query
    services, caller = request.services, request.caller
    division, asked = report_of(query)
    page = await reports.report(services, caller, asked)
    rows = page.rows
    if _is_csv(request, query):
        return Response(
            csv_of(division.title, rows).encode(),
            media_type=f"{CSV}; header=present",
            headers={"content-disposition": 'attachment; filename="report.csv"'},
        )
    return reply(
        {
            "by": query.text("by") or "project",
            "project": asked.project,
            "first_day": asked.first_day,
            "last_day": asked.last_day,
            "cost": sum_of(rows),
            **page_until(rows, kind_of_report(asked), page.next),
        }
    )


def _is_csv(request: AnyRequest, query: Query) -> bool:
    if query.text("format") is None:
        accepted = request.headers.get("accept", "")
        return CSV in accepted and "application/json" not in accepted
    return query.choice("format", FORMATS) == "csv"
