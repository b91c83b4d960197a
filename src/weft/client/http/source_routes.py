"""The client's calls about sources of production lines."""

from typing import Any
from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.listing import Document, Listing
from weft.client.http.session import new_key


class SourceRoutes(Requests):
    """`/v1/sources`."""

    def list_sources(self) -> Listing:
        """Yield the sources, in the order of their names."""
        return self._list("/v1/sources", {})

    async def get_source(self, name: str) -> Document:
        """Return a source. Raise `SourceNotFound`."""
        return await self._get(f"/v1/sources/{quote(name, safe='')}")

    async def change_source(
        self,
        name: str,
        **patch: Any,  # noqa: ANN401 (fields of several types)
    ) -> Document:
        """Change `paused`, or set `replay_since`; return the source."""
        return await self._patch(f"/v1/sources/{quote(name, safe='')}", patch, key=new_key())

    async def test_source(self, name: str) -> Document:
        """Read a source once; return its items and their jobs. Nothing is kept."""
        return await self._post(f"/v1/sources/{quote(name, safe='')}/trial", {})

    async def rerun_series(self, name: str, series: str, since: str | float) -> Document:
        """Let items of a series run again from a date or a number on; return how many."""
        path = f"/v1/sources/{quote(name, safe='')}/rerun"
        return await self._post(path, {"series": series, "from": since}, key=new_key())

    def list_source_items(
        self,
        name: str,
        state: str | None = None,
        series: str | None = None,
        key: str | None = None,
    ) -> Listing:
        """Yield what a source has found, the newest first; or only items of a state, of a
        series, or the one of a key.
        """
        query = {"state": state, "series": series, "key": key}
        return self._list(f"/v1/sources/{quote(name, safe='')}/items", query)
