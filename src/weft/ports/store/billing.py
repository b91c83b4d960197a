"""The calls of the api about billing projects, costs and prices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Protocol

from weft.ports.store.callers import Caller, Row


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


class BillingStore(Protocol):
    """Costs of billing projects, computed from usage when they are read; prices."""

    async def list_projects(
        self,
        caller: Caller,
        name: str | None,
        *,
        names: Sequence[str] | None = None,
        after: str | None = None,
        limit: int | None = None,
        members: int | None = None,
    ) -> Sequence[Row]:
        """Return `name, closed, cost_max, cost_soft_max, on_limit, limit_state, cost_per_hour,
        limit_in_s, cost, cost_by_resource, members` of the caller's projects, by name; somebody
        who manages the tenant has all.

        `limit_in_s`: when the limit is reached if what runs goes on.

        If a name is given: of that project, or raise `ProjectNotFound`. `names`: only of those of
        these that exist; `after`: the name of the last one of the page before; no `limit`: all.
        `members`: at most this number of them, those who came first, and `has_more_members`.
        """

    async def list_project_days(
        self, caller: Caller, name: str, *, before: date | None, limit: int
    ) -> Sequence[Row]:
        """Return `date, cost, cost_by_resource` of a project's days with usage, newest first.

        Dates are UTC. Raise `ProjectNotFound`.
        """

    async def billing_report(
        self, caller: Caller, asked: ReportQuery, *, rows_max: int, projects_max: int | None = None
    ) -> ReportPage:
        """Return `name, kind, cost, cost_by_resource` for each part of the report, in order; costs
        are exact decimals, as texts, and add up to the same sum however the report is divided.

        Operators have all of the tenant, others the projects that they are members of. With
        `limit`: a page of projects, users or days, in the order in which they came to be; other
        divisions have no pages. `rows_max`: sums of batches that a report by attribute may read;
        `projects_max`: projects that may be added up. Raise `ProjectNotFound`, `ReportTooLarge`.
        """

    async def create_project(
        self,
        caller: Caller,
        name: str,
        *,
        cost_max: float | None,
        idempotency_key: str | None = None,
    ) -> None:
        """Make a project with the caller as its member. Names are unique without regard to case.
        A repeat with the same key does nothing. Raise `ProjectExists`.
        """

    async def change_project(self, caller: Caller, name: str, patch: Mapping[str, Any]) -> None:
        """Change `closed`, `cost_max`, `cost_soft_max` (None: no limit) or `on_limit`. A closed
        project takes no new batches and schedules (`ProjectClosed`); one that has reached its
        limit and cancels at it takes no jobs (`BillingLimitReached`). Raise `ProjectNotFound`;
        `SoftLimitAboveLimit`, also by the one of the two that is stored.
        """

    async def delete_project(self, caller: Caller, name: str) -> None:
        """Take a closed project from all lists; its name stays taken. Raise `ProjectNotFound`,
        `ProjectOpen`.
        """

    async def was_project(self, caller: Caller, name: str) -> bool:
        """Say whether a project of this name was deleted."""

    async def set_project_member(
        self, caller: Caller, name: str, user: str, *, is_member: bool
    ) -> None:
        """Let a user charge a project, or no longer. Raise `ProjectNotFound`, `UserNotFound`."""

    async def list_rates(self, caller: Caller) -> Sequence[Row]:
        """Return `version, valid_from, rates: [{resource, unit, price}], corrections`, newest
        first; who corrected them is told to administrators of the site.
        """
