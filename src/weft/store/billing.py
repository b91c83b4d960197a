"""The part of `ApiStore` for billing projects, costs and prices."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from weft.core.access.actors import SITE_ADMINISTRATOR
from weft.core.access.rights import Right
from weft.ports.store import Caller, ReportPage, ReportQuery, Row
from weft.store.database import Database
from weft.store.pools import pools_of


class Billing:
    """The api's calls about costs and prices. The methods are documented at the port."""

    _database: Database

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
        """Return project documents."""
        rows = await self._database.call(
            "list_projects",
            caller=caller,
            of_user_id=_seen_by(caller),
            of_name=name,
            of_names=None if names is None else list(names),
            after_name=after,
            limit_rows=limit,
            members_max=members,
        )
        return [row[0] for row in rows]

    async def list_project_days(
        self, caller: Caller, name: str, *, before: date | None, limit: int
    ) -> Sequence[Row]:
        """Return a project's costs by date."""
        rows = await self._database.call(
            "list_project_days",
            caller=caller,
            of_user_id=_seen_by(caller),
            of_name=name,
            before=before,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def billing_report(
        self, caller: Caller, asked: ReportQuery, *, rows_max: int, projects_max: int | None = None
    ) -> ReportPage:
        """Return the parts of a report."""
        found = await self._database.value(
            "billing_report",
            caller=caller,
            of_user_id=None if caller.sees_tenant else caller.user_id,
            of_project=asked.project,
            by=asked.by,
            attribute=asked.attribute,
            since=asked.first_day,
            until=asked.last_day,
            rows_max=rows_max,
            projects_max=projects_max,
            after=asked.after,
            limit_rows=asked.limit,
        )
        return ReportPage(found["items"], found["next"])

    async def create_project(
        self,
        caller: Caller,
        name: str,
        *,
        cost_max: float | None,
        idempotency_key: str | None = None,
    ) -> None:
        """Make a project."""
        await self._database.call(
            "create_project",
            caller=caller,
            user_id=caller.user_id,
            of_name=name,
            cost_max=None if cost_max is None else Decimal(repr(cost_max)),
            idempotency_key=idempotency_key,
        )

    async def change_project(self, caller: Caller, name: str, patch: Mapping[str, Any]) -> None:
        """Change a project."""
        await self._database.call("change_project", caller=caller, of_name=name, patch=patch)

    async def delete_project(self, caller: Caller, name: str) -> None:
        """Delete a closed project."""
        await self._database.call("delete_project", caller=caller, of_name=name)

    async def was_project(self, caller: Caller, name: str) -> bool:
        """Say whether a project was deleted."""
        found: bool = await self._database.value("was_project", caller=caller, of_name=name)
        return found

    async def set_project_member(
        self, caller: Caller, name: str, user: str, *, is_member: bool
    ) -> None:
        """Add or remove a member."""
        await self._database.call(
            "set_project_member",
            caller=caller,
            of_name=name,
            of_user=user,
            is_member=is_member,
        )

    async def list_rates(self, caller: Caller) -> Sequence[Row]:
        """Return the prices."""
        rows = [row[0] for row in await self._database.call("list_rates")]
        if pools_of(caller) is None:
            return rows
        return [
            {**card, "corrections": [{**one, "by": SITE_ADMINISTRATOR} for one in corrections]}
            for card in rows
            for corrections in [card["corrections"]]
        ]


def _seen_by(caller: Caller) -> int | None:
    """Return the user whose memberships decide what is seen; None: it is all of the tenant."""
    return None if caller.visit or caller.may(Right.MANAGE) else caller.user_id
