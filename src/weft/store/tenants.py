"""Tenants, in the api's store."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Action, Caller, Row, Visited
from weft.store.callers import digest_of
from weft.store.database import StorePart
from weft.store.declared import (
    calls,
    documents,
    number,
    tenant_id,
    user_id,
    value,
)


class Tenants(StorePart):
    """All tenants. Names are unique without regard to case."""

    @calls(value, caller=None, tenant_id=tenant_id)
    async def tenant_name(self, caller: Caller) -> str:
        """Return the name of the caller's tenant."""

    @calls(documents, limit="limit_rows")
    async def list_tenants(self, *, after: int, limit: int) -> Sequence[Row]:
        """Return `tenant_id, name, n_users, on_user_removal, allowed` of tenants with larger
        numbers, in their order.
        """

    @calls(number, name="of_name")
    async def find_tenant(self, name: str) -> int:
        """Return a tenant's number, for administrators of the site. Raise `TenantNotFound`."""

    @calls(
        lambda rows: Visited(**rows[0]) if rows else None,
        name="of_name",
        by_user_id=lambda action: action.caller.user_id,
        request=lambda action: action.row(),
    )
    async def begin_visit(self, action: Action, name: str) -> Visited | None:
        """Let the caller of this action look into the tenant of this name, and add that to its
        trail; return None if it does not exist, or they do not administer the site. Looking into
        one's own tenant is in no trail.
        """

    @calls(value, name="of_name")
    async def get_tenant(self, tenant_id: int, name: str) -> Row:
        """Return the document of a tenant, as `list_tenants` has it. Raise `TenantNotFound` if
        this is not the name of the tenant with this number.
        """

    @calls(value, name="of_name")
    async def set_tenant(self, tenant_id: int, name: str, patch: Mapping[str, Any]) -> Row:
        """Change what the patch names of a tenant, `on_user_removal` and kinds of `allowed`;
        return the document. Raise what `get_tenant` raises.
        """

    @calls(value, caller=None, tenant_id=tenant_id)
    async def tenant_allowed(self, caller: Caller) -> Mapping[str, Sequence[str]]:
        """Return patterns of what jobs of the caller's tenant may choose, by kind (`image`,
        `partition` …); of a missing kind anything.
        """

    @calls(
        number,
        caller=None,
        name="of_name",
        admin="admin_name",
        token=("token_hash", digest_of),
        by_user_id=user_id,
    )
    async def create_tenant(
        self,
        caller: Caller,
        name: str,
        *,
        admin: str,
        token: str,
        idempotency_key: str | None = None,
    ) -> int:
        """Make a tenant with a billing project and a queue `default`, to the shared pool, and with
        a first user, a tenant-admin for whom this token stands; return its number. A repeat with
        the same key replaces the token, unless it was used. Raise `TenantExists`, or
        `RightMissing` if the caller is no longer an admin.
        """
