"""The part of a client for production lines, and for what their sources have found."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document, Listing


class SourceCalls:
    """Production lines, items of their sources, and their series."""

    if TYPE_CHECKING:
        api: Api

    async def line_overview(self) -> Document:
        """Return how production lines are: `sources` with what they found last, `sinks` with what
        has not arrived, and how many jobs have each of the `statuses`.
        """
        return await self.api.line_overview()

    def list_source_items(self, source: str, *, series: str | None = None) -> Listing:
        """Yield what a source has found, newest first; or a series. Raise `SourceNotFound`."""
        return self.api.list_source_items(source, series=series)

    async def rerun_series(self, source: str, series: str, since: str | float) -> Document:
        """Let items of a series run again from a date or a number on, each after the one before
        it; return `n_items`. Raise `SourceNotFound`, `SourceOfAnother`.
        """
        return await self.api.rerun_series(source, series, since)
