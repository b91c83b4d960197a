"""What a report of billing covers, as the parameters of a request say."""

from dataclasses import replace
from datetime import date

from weft.api.http.paging import INT_MAX, LIMIT_MAX, cursor_of, kind_of
from weft.api.http.parameters import Query, wrong_parameter
from weft.core.billing.reports import Division, parse_division
from weft.ports.store import ReportQuery


def report_of(query: Query) -> tuple[Division, ReportQuery]:
    """Return how a report is divided, and what it covers: `by`, `project`, `first_day`,
    `last_day`, `limit`, `cursor`. Raise `InvalidParameter`.
    """
    by = query.text("by")
    division = _division_of("project" if by is None else by)
    asked = ReportQuery(
        by=division.by,
        attribute=division.attribute,
        project=query.text("project"),
        first_day=day_of(query.text("first_day"), "first_day"),
        last_day=day_of(query.text("last_day"), "last_day"),
        limit=query.integer("limit", default=None, least=1, most=LIMIT_MAX),
    )
    after = cursor_of(query, kind_of_report(asked), most=INT_MAX)
    if after is not None and asked.limit is None:
        raise wrong_parameter("limit", "a page that a cursor leads to has one")
    return division, replace(asked, after=after)


def kind_of_report(query: ReportQuery) -> str:
    """Return the kind of the cursors of a report."""
    days = [None if day is None else day.isoformat() for day in (query.first_day, query.last_day)]
    return kind_of("r", query.by, query.attribute, query.project, *days)


def _division_of(by: str) -> Division:
    try:
        return parse_division(by)
    except ValueError as error:
        raise wrong_parameter("by", str(error)) from error


def day_of(text: str | None, name: str) -> date | None:
    """Return the date of a parameter; None: it is not given. Raise `InvalidParameter`."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise wrong_parameter(name, "it is not a date such as 2026-01-31") from error
