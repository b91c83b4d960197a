"""The routes about tenants and who belongs to them, one method each."""

from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing
from weft.client.http.session import new_key
from weft.core.errors import BadId


class TenantRoutes(Requests):
    """`/v1/users`, for administrators of the tenant; `/v1/tenants`, for those of the site."""

    def list_tenants(self) -> Listing:
        """Yield all tenants in the order of their numbers."""
        return self._list("/v1/tenants", {})

    async def create_tenant(self, name: str, *, admin: str) -> Document:
        """Create a tenant with its first user; the text of their token is the answer's `token`,
        for the only time. Raise `TenantExists`.
        """
        return await self._post("/v1/tenants", {"name": name, "admin": admin}, key=new_key())

    def list_users(self) -> Listing:
        """Yield the users of the tenant in the order of their numbers."""
        return self._list("/v1/users", {})

    async def add_user(self, name: str, *, role: str = "user") -> Document:
        """Let a user in; the text of their first token is the answer's `token`, for the only time.
        Raise `UserExists`.
        """
        return await self._post("/v1/users", {"name": name, "role": role}, key=new_key())

    async def set_user_role(self, name: str, role: str) -> Document:
        """Give a user another role; return the user. Raise `UserNotFound`,
        `LastAdministrator`.
        """
        return await self._patch(_path_of(name), {"role": role})

    async def remove_user(self, name: str, *, cancel_batches: bool = False) -> Document:
        """Remove a user; return `name, n_cancelled`. Raise `UserNotFound`,
        `LastAdministrator`.
        """
        return await self._delete(_path_of(name), {"cancel_batches": cancel_batches})


def _path_of(name: str) -> str:
    if not name:  # the address would be that of the list
        raise BadId(name, expected="a user has a name")
    return f"/v1/users/{quote(name, safe='')}"
