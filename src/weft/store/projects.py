"""Billing projects, in the api's store."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from weft.core.access.rights import Right
from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import calls, documents, nothing, user_id, value


def _seen_by(caller: Caller) -> int | None:
    """Return the user whose memberships decide what is seen; None: it is all of the tenant."""
    return None if caller.visit or caller.may(Right.MANAGE) else caller.user_id


class Projects(StorePart):
    """Billing projects, with costs that are computed from usage when they are read."""

    @calls(
        documents,
        name="of_name",
        names="of_names",
        after="after_name",
        limit="limit_rows",
        members="members_max",
        of_user_id=_seen_by,
    )
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

    @calls(documents, name="of_name", limit="limit_rows", of_user_id=_seen_by)
    async def list_project_days(
        self, caller: Caller, name: str, *, before: date | None, limit: int
    ) -> Sequence[Row]:
        """Return `date, cost, cost_by_resource` of a project's days with usage, newest first.

        Dates are UTC. Raise `ProjectNotFound`.
        """

    @calls(
        nothing,
        name="of_name",
        user_id=user_id,
        cost_max=lambda cost_max: None if cost_max is None else Decimal(repr(cost_max)),
    )
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

    @calls(nothing, name="of_name")
    async def change_project(self, caller: Caller, name: str, patch: Mapping[str, Any]) -> None:
        """Change `closed`, `cost_max`, `cost_soft_max` (None: no limit) or `on_limit`. A closed
        project takes no new batches and schedules (`ProjectClosed`); one that has reached its
        limit and cancels at it takes no jobs (`BillingLimitReached`). Raise `ProjectNotFound`;
        `SoftLimitAboveLimit`, also by the one of the two that is stored.
        """

    @calls(nothing, name="of_name")
    async def delete_project(self, caller: Caller, name: str) -> None:
        """Unlist a closed project, keeping its name. Raise `ProjectNotFound`, `ProjectOpen`."""

    @calls(value, name="of_name")
    async def was_project(self, caller: Caller, name: str) -> bool:
        """Say whether a project of this name was deleted."""

    @calls(nothing, name="of_name", user="of_user")
    async def set_project_member(
        self, caller: Caller, name: str, user: str, *, is_member: bool
    ) -> None:
        """Let a user charge a project, or no longer. Raise `ProjectNotFound`, `UserNotFound`."""
