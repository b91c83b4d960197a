"""The part of `ApiStore` for tenants."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Action, Caller, Row, Visited
from weft.store.database import Database
from weft.store.tokens import digest_of


class Tenants:
    """The api's calls about tenants. The methods are documented at the port."""

    _database: Database

    async def tenant_name(self, caller: Caller) -> str:
        """Return the name of the caller's tenant."""
        return str(await self._database.value("tenant_name", tenant_id=caller.tenant_id))

    async def list_tenants(self, *, after: int, limit: int) -> Sequence[Row]:
        """Return documents of tenants."""
        rows = await self._database.call("list_tenants", after=after, limit_rows=limit)
        return [row[0] for row in rows]

    async def find_tenant(self, name: str) -> int:
        """Return the number of a tenant."""
        return int(await self._database.value("find_tenant", of_name=name))

    async def begin_visit(self, action: Action, name: str) -> Visited | None:
        """Let an administrator of the site look into a tenant."""
        rows = await self._database.call(
            "begin_visit", by_user_id=action.caller.user_id, of_name=name, request=action.row()
        )
        return Visited(**rows[0]) if rows else None

    async def get_tenant(self, tenant_id: int, name: str) -> Row:
        """Return the document of a tenant."""
        document: Row = await self._database.value("get_tenant", tenant_id=tenant_id, of_name=name)
        return document

    async def set_tenant(self, tenant_id: int, name: str, patch: Mapping[str, Any]) -> Row:
        """Change a tenant."""
        document: Row = await self._database.value(
            "set_tenant", tenant_id=tenant_id, of_name=name, patch=patch
        )
        return document

    async def tenant_allowed(self, caller: Caller) -> Mapping[str, Sequence[str]]:
        """Return what jobs of the caller's tenant may choose."""
        found: Mapping[str, Sequence[str]] = await self._database.value(
            "tenant_allowed", tenant_id=caller.tenant_id
        )
        return found

    async def create_tenant(
        self,
        caller: Caller,
        name: str,
        *,
        admin: str,
        token: str,
        idempotency_key: str | None = None,
    ) -> int:
        """Make a tenant with its first user."""
        return int(
            await self._database.value(
                "create_tenant",
                by_user_id=caller.user_id,
                of_name=name,
                admin_name=admin,
                token_hash=digest_of(token),
                idempotency_key=idempotency_key,
            )
        )
