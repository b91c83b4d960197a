"""The routes of saved queries, and of actions on the batches that a query finds."""

from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing
from weft.client.http.session import new_key


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

    async def count_batch_action(self, action: str, q: str | None = None) -> Document:
        """Count what an action would do to the batches that match: `n_batches, n_jobs, n_idle`,
        and `has_more` if more match than were counted. Raise `BadQuery`.
        """
        return await self._get("/v1/batch-actions", {"action": action, "q": q})

    async def begin_batch_action(self, action: str, query: str) -> Document:
        """Begin to `cancel`, `retry`, `hold` or `release` all batches that match, one after the
        other; return the operation. Raise `BadQuery`.
        """
        document = {"action": action, "query": query}
        return await self._post("/v1/batch-actions", document, key=new_key())

    def list_operations(self) -> Listing:
        """Yield operations, newest first."""
        return self._list("/v1/operations", {})

    async def cancel_operation(self, operation_id: int) -> Document:
        """End an operation on many batches where it is; return it. Raise `OperationNotFound`,
        `OperationNotCancellable`.
        """
        return await self._post(f"/v1/operations/{operation_id}/cancel", {})
