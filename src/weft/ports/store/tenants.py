"""The calls of the api about tenants, most of them for administrators of the site."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from weft.ports.store.callers import Caller, Row
from weft.ports.store.trail import Action


@dataclass(frozen=True)
class Visited:
    """A tenant into which an administrator of the site looks."""

    tenant_id: int
    tenant: str
    """Its name."""
    user_name: str
    """What its trail calls them: it may have a user with their name."""


class TenantStore(Protocol):
    """All tenants. Names are unique without regard to case."""

    async def tenant_name(self, caller: Caller) -> str:
        """Return the name of the caller's tenant."""

    async def list_tenants(self, *, after: int, limit: int) -> Sequence[Row]:
        """Return `tenant_id, name, n_users, on_user_removal, allowed` of tenants with larger
        numbers, in their order.
        """

    async def find_tenant(self, name: str) -> int:
        """Return the number of the tenant of this name, for administrators of the site. Raise
        `TenantNotFound`.
        """

    async def begin_visit(self, action: Action, name: str) -> Visited | None:
        """Let the caller of this action look into the tenant of this name, and add that to its
        trail; return None if it does not exist, or they do not administer the site. Looking into
        one's own tenant is in no trail.
        """

    async def get_tenant(self, tenant_id: int, name: str) -> Row:
        """Return the document of a tenant, as `list_tenants` has it. Raise `TenantNotFound` if
        this is not the name of the tenant with this number.
        """

    async def set_tenant(self, tenant_id: int, name: str, patch: Mapping[str, Any]) -> Row:
        """Change what the patch names of a tenant, `on_user_removal` and kinds of `allowed`;
        return the document. Raise what `get_tenant` raises.
        """

    async def tenant_allowed(self, caller: Caller) -> Mapping[str, Sequence[str]]:
        """Return patterns of what jobs of the caller's tenant may choose, by kind (`image`,
        `partition` …); of a missing kind anything.
        """

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
