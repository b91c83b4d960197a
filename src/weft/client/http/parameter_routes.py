"""The client's calls about parameters of production lines."""

from typing import Any
from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing


class ParameterRoutes(Requests):
    """`/v1/parameters`."""

    def list_parameters(self, as_of: str | None = None) -> Listing:
        """Yield the parameters in the order of their names, as they were at a date."""
        return self._list("/v1/parameters", {"as_of": as_of})

    async def get_parameter(self, name: str) -> Document:
        """Return a parameter. Raise `ParameterNotFound`."""
        return await self._get(f"/v1/parameters/{quote(name, safe='')}")

    async def set_parameter(
        self,
        name: str,
        value: Any,  # noqa: ANN401 (JSON)
        of_type: str | None = None,
    ) -> Document:
        """Give it a value from now on; return it. Only for operators."""
        typed = {} if of_type is None else {"type": of_type}
        return await self._put(f"/v1/parameters/{quote(name, safe='')}", {"value": value, **typed})

    def list_versions(self, name: str) -> Listing:
        """Yield its versions, the newest first."""
        return self._list(f"/v1/parameters/{quote(name, safe='')}/history", {})
