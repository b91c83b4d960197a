"""The part of a client for queries of batches: lists, saved queries, actions on what is found."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document, Listing
from weft.client.http.routes import BatchSort
from weft.client.objects.operation import end_of
from weft.client.progress import Progress


class QueryCalls:
    """Lists of batches, and queries to which the user has given names."""

    if TYPE_CHECKING:
        api: Api

    def list_batches(
        self, q: str | None = None, *, sort: BatchSort | None = None, reverse: bool = False
    ) -> Listing:
        """Yield batch documents, newest first: all, or those that a query finds.

        Args:
            q: A query.
            sort: `number`, `created` or `completed`, from the newest, or `name`, from A on. By
                `name` only those that have one, by `completed` only those that are complete.
            reverse: The other way round.
        """
        return self.api.list_batches(q, sort=sort, reverse=reverse)

    async def count_batch_action(self, action: str, q: str) -> Document:
        """Count what `act_on_batches` would do: `n_batches` that it would change, `n_jobs` of
        these that it concerns, `n_idle` batches in which there is nothing to do; `has_more` if
        more batches match than the server counts. Raise `BadQuery`.
        """
        return await self.api.count_batch_action(action, q)

    async def act_on_batches(self, action: str, q: str, *, shown: bool | None = None) -> Document:
        """Change the batches that a query finds, one after the other, and wait for the end.

        What one may not change is skipped. Return `n_changed`, `n_idle` batches in which there was
        nothing to do, `n_skipped`, and `skipped`: how often for which code of an error. Raise
        `BadQuery`.

        Args:
            action: `cancel`, `retry`, `hold` or `release`.
            q: A query; an empty one finds all.
            shown: Whether to show the progress; None: on a terminal.
        """
        operation = await self.api.begin_batch_action(action, q)
        with Progress(f"{action} batches", shown=shown) as bar:
            return await end_of(self.api, operation, bar)
