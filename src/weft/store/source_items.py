"""The part of `DriverStore` about sources of production lines."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store.sources import DueSource
from weft.store.database import StorePart
from weft.store.declared import calls, seconds, value


class SourceItems(StorePart):
    """The calls of the driver about sources."""

    @calls(seconds, limit="limit_rows")
    async def sources_due(self, epoch: int, busy: Sequence[int], *, limit: int) -> float | None:
        """Return in how many seconds `due_sources` has another source, as `gates_due`."""

    @calls(lambda rows: [DueSource(**row) for row in rows], limit="limit_rows")
    async def due_sources(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueSource]:
        """Return the sources that are to be read now, besides these, the longest due first."""

    @calls(
        value, found="items", of_source_id=lambda source: source.source_id,
        generation=lambda source: source.generation,
    )  # fmt: skip
    async def store_items(
        self,
        epoch: int,
        source: DueSource,
        found: Sequence[Mapping[str, Any]],
        *,
        cursor: Mapping[str, Any] | None,
        next_in_s: float,
        error: str | None,
    ) -> int | None:
        """Keep what a reading has found (`key`, `fields`, `error`), with where the next one begins
        and when; return how many items are new. An item whose key is known is the same. None: the
        source is another one by now, or stopped, and nothing was kept.
        """
