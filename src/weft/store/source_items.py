"""The part of `DriverStore` about sources of production lines."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from weft.ports.store.sources import DueSource
from weft.store.database import Database


class SourceItems:
    """The calls of the driver about sources."""

    _database: Database

    async def sources_due(self, epoch: int, busy: Sequence[int], *, limit: int) -> float | None:
        """Return in how many seconds `due_sources` has another source, as `gates_due`."""
        distance: timedelta | None = await self._database.value(
            "sources_due", epoch=epoch, busy=[*busy], limit_rows=limit
        )
        return None if distance is None else distance.total_seconds()

    async def due_sources(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueSource]:
        """Return the sources that are to be read now, besides these, the longest due first."""
        rows = await self._database.call(
            "due_sources", epoch=epoch, busy=[*busy], limit_rows=limit
        )
        return [DueSource(**row) for row in rows]

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
        new: int | None = await self._database.value(
            "store_items",
            epoch=epoch,
            of_source_id=source.source_id,
            generation=source.generation,
            items=[*found],
            cursor=cursor,
            next_in_s=next_in_s,
            error=error,
        )
        return new
