"""Lists of batches, and what an action on batches would do."""

from typing import Literal

from weft.client.http.calls import PAGE_ROWS, DocumentCalls
from weft.client.http.listing import Document, Listing

BatchSort = Literal["number", "name", "created", "completed"]


class QueryRoutes(DocumentCalls):
    """What is found in all batches."""

    def list_batches(
        self,
        q: str | None = None,
        *,
        name: str | None = None,
        hidden: bool = False,
        sort: BatchSort | None = None,
        reverse: bool = False,
        page_rows: int = PAGE_ROWS,
    ) -> Listing:
        """Yield batch documents, newest first: all, or those that a query finds.

        Args:
            q: A query.
            name: Only those of exactly this name.
            hidden: Also hidden ones.
            sort: `number`, `created` or `completed`, from the newest, or `name`, from A on. By
                `name` only those that have one, by `completed` only those that are complete.
            reverse: The other way round.
            page_rows: How many are asked for at a time.
        """
        order = {"sort": sort, "reverse": reverse or None}
        query = {"q": q, "name": name, "hidden": hidden or None, "limit": page_rows}
        return self._list("/v1/batches", {**query, **order})

    async def count_batch_action(self, action: str, q: str | None = None) -> Document:
        """Count what `act_on_batches` would do: `n_batches` that it would change, `n_jobs` of
        these that it concerns, `n_idle` batches in which there is nothing to do; `has_more` if
        more batches match than the server counts. Raise `BadQuery`.
        """
        return await self._get("/v1/batch-actions", {"action": action, "q": q})
