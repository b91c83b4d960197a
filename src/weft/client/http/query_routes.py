"""Lists of batches."""

from typing import Literal

from weft.client.http.calls import PAGE_ROWS, DocumentCalls
from weft.client.http.listing import Listing

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
