"""The part of `DriverStore` about sources of production lines."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from weft.ports.store.sources import DueSource
from weft.store.database import Database


class SourceItems:
    """The driver's calls about sources. The methods are documented at the port."""

    _database: Database

    async def sources_due(self, epoch: int, busy: Sequence[int]) -> float | None:
        """Return when the next source is read."""
        distance: timedelta | None = await self._database.value(
            "sources_due", epoch=epoch, busy=[*busy]
        )
        return None if distance is None else distance.total_seconds()

    async def due_sources(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueSource]:
        """Return the sources that are to be read."""
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
        """Keep what a reading has found."""
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
