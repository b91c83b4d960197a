"""The part of `ApiStore` for quotas."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Quotas:
    """The api's calls about quotas. The methods are documented at the port."""

    _database: Database

    async def list_quotas(self, caller: Caller) -> Sequence[Row]:
        """Return the quotas that the caller may see."""
        rows = await self._database.call(
            "list_quotas",
            caller=caller,
            of_user_id=None if caller.sees_tenant else caller.user_id,
        )
        return [row[0] for row in rows]

    async def set_quota(self, caller: Caller, user: str | None, patch: Mapping[str, Any]) -> Row:
        """Change the quota of a user, or of each."""
        document: Row = await self._database.value(
            "set_quota", caller=caller, of_name=user, patch=patch
        )
        return document

    async def set_tenant_quota(
        self,
        caller: Caller,  # noqa: ARG002 (the route has asked for their right)
        tenant: str,
        patch: Mapping[str, Any],
    ) -> Row:
        """Change the quota of a tenant."""
        document: Row = await self._database.value("set_tenant_quota", of_name=tenant, patch=patch)
        return document
