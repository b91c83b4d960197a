"""The calls of the api about tenants, most of them for administrators of the site."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class TenantStore(Protocol):
    """All tenants. Names are unique without regard to case."""

    async def tenant_name(self, caller: Caller) -> str:
        """Return the name of the caller's tenant."""

    async def list_tenants(self, *, after: int, limit: int) -> Sequence[Row]:
        """Return `tenant_id, name, n_users` of tenants with larger numbers, in their order."""

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
