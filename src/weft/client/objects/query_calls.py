"""The part of a client for actions on the batches that a query finds."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document
from weft.client.objects.operation import end_of
from weft.client.progress import Progress


class QueryCalls:
    """Actions on many batches."""

    if TYPE_CHECKING:
        api: Api

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
        operation = await self.api.begin_batch_action(action, query=q)
        with Progress(f"{action} batches", shown=shown) as bar:
            return await end_of(self.api, operation, bar)
