"""The routes of actions on the batches that a query finds."""

from weft.client.http.calls import Requests
from weft.client.http.listing import Document
from weft.client.http.session import new_key


class QueryRoutes(Requests):
    """One method per route."""

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
