"""The route of the whole site."""

from weft.client.http.calls import Requests
from weft.client.http.listing import Document


class SystemRoutes(Requests):
    """`/v1/system`."""

    async def get_system(self) -> Document:
        """Return what runs for all tenants, and on what. Only for administrators of the site."""
        return await self._get("/v1/system")
