"""The part of `ApiStore` for costs and prices."""

from collections.abc import Sequence
from datetime import date

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Billing:
    """The api's calls about costs and prices. The methods are documented at the port."""

    _database: Database

    async def list_projects(self, caller: Caller, name: str | None) -> Sequence[Row]:
        """Return project documents."""
        rows = await self._database.call(
            "list_projects", tenant_id=caller.tenant_id, of_user_id=caller.user_id, of_name=name
        )
        return [row[0] for row in rows]

    async def list_project_days(
        self, caller: Caller, name: str, *, before: date | None, limit: int
    ) -> Sequence[Row]:
        """Return a project's costs by date."""
        rows = await self._database.call(
            "list_project_days",
            tenant_id=caller.tenant_id,
            of_user_id=caller.user_id,
            of_name=name,
            before=before,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def list_rates(self, caller: Caller) -> Sequence[Row]:  # noqa: ARG002 (one list for all)
        """Return the prices."""
        return [row[0] for row in await self._database.call("list_rates")]
