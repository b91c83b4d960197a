"""The calls of the api about billing projects, costs and prices."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from weft.ports.store.callers import Row


@dataclass(frozen=True, kw_only=True)
class ReportQuery:
    """What a report covers, and how it is divided."""

    by: str
    """project, user, day, resource or attribute."""
    attribute: str | None = None
    project: str | None = None
    first_day: date | None = None
    last_day: date | None = None
    limit: int | None = None
    """How many projects, users or days; None: all, by name."""
    after: int | None = None
    """The `next` of the page before."""


@dataclass(frozen=True)
class ReportPage:
    """The rows of a report, or a page of them."""

    rows: Sequence[Row]
    next: int | None = None
    """Where the next page begins; None: this is the last one."""
