"""The routes of saved queries."""

from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document


def _path(name: str) -> str:
    return f"/v1/saved-queries/{quote(name, safe='')}"


class QueryRoutes(Requests):
    """Queries for batches that have names: `name, query, updated_at`."""

    async def list_saved_queries(self) -> list[Document]:
        """Return one's saved queries by name."""
        found: list[Document] = (await self._get("/v1/saved-queries"))["items"]
        return found

    async def get_saved_query(self, name: str) -> Document:
        """Return one of one's saved queries. Raise `SavedQueryNotFound`."""
        return await self._get(_path(name))

    async def save_query(self, name: str, query: str) -> Document:
        """Save a query. Raise `BadQuery`, `TooManySavedQueries`."""
        return await self._put(_path(name), {"query": query})

    async def remove_saved_query(self, name: str) -> None:
        """Forget one of one's saved queries. Raise `SavedQueryNotFound`."""
        await self._session.request("DELETE", _path(name))
