"""The part of a client for what sources of production lines have found."""

from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document, Listing


class SourceCalls:
    """Items of sources, and their series."""

    if TYPE_CHECKING:
        api: Api

    def list_source_items(self, source: str, *, series: str | None = None) -> Listing:
        """Yield what a source has found, newest first; or a series. Raise `SourceNotFound`."""
        return self.api.list_source_items(source, series=series)

    async def rerun_series(self, source: str, series: str, since: str | float) -> Document:
        """Let items of a series run again from a date or a number on, each after the one before
        it; return `n_items`. Raise `SourceNotFound`, `SourceOfAnother`.
        """
        return await self.api.rerun_series(source, series, since)
