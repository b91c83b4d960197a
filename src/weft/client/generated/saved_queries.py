"""Calls of `weft.api.use_cases.saved_queries`.

Made by `tools/generate_client.py`; do not edit.
"""

from weft.client.http.calls import DocumentCalls, segment
from weft.client.http.listing import Document


class SavedQueriesCalls(DocumentCalls):
    """Calls of `weft.api.use_cases.saved_queries`."""

    async def list_saved_queries(self) -> list[Document]:
        """Return one's saved queries by name, each with `name`, `query` and `updated_at`.

        Use case: `weft.api.use_cases.saved_queries.list_saved_queries`.
        """
        return await self._items("/v1/saved-queries")

    async def save_query(self, name: str, query: str) -> Document:
        """Give a query for batches a name, in place of one of the same name. Raise `BadQuery`,
        `TooManySavedQueries`.

        Use case: `weft.api.use_cases.saved_queries.save_query`.

        Args:
            name: The name of a saved query.
            query: A query for batches.
        """
        return await self._put(
            f"/v1/saved-queries/{segment(name, 'saved query')}", {"query": query}
        )

    async def get_saved_query(self, name: str) -> Document:
        """Return one of one's saved queries. Raise `SavedQueryNotFound`.

        Use case: `weft.api.use_cases.saved_queries.get_saved_query`.

        Args:
            name: The name of a saved query.
        """
        return await self._get(f"/v1/saved-queries/{segment(name, 'saved query')}")

    async def remove_saved_query(self, name: str) -> None:
        """Forget one of one's saved queries. Raise `SavedQueryNotFound`.

        Use case: `weft.api.use_cases.saved_queries.remove_saved_query`.

        Args:
            name: The name of a saved query.
        """
        await self._delete(f"/v1/saved-queries/{segment(name, 'saved query')}")
