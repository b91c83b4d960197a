"""Lists that a query chooses from: parameters `q` and `explain`."""

from typing import Final

from weft.api.http.requests import Query
from weft.core.query import Node, Subject, parse_query
from weft.ports.store import QueryLimits
from weft.settings import Settings

QUERY: Final = ("q", "explain")


def query_of(query: Query, subject: Subject, settings: Settings) -> Node | None:
    """Return the query of a request; None: it has none. Raise `BadQuery`."""
    text = query.text("q")
    if text is None:
        return None
    return parse_query(text, subject, chars_max=settings.query_chars_max)


def limits_of(settings: Settings) -> QueryLimits:
    """Return what a query may cost."""
    return QueryLimits(settings.query_timeout_s, settings.query_scan_jobs_max)
