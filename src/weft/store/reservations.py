"""The part of `DriverStore` for workers that are kept for large jobs."""

from collections.abc import Sequence

from weft.core.pools.keep import Keep
from weft.ports.store import Row
from weft.store.database import Database


class Reservations:
    """The driver's calls about kept workers. The methods are documented at the port."""

    _database: Database

    async def reserve_rounds(self, epoch: int, *, after_s: float) -> Sequence[Row]:
        """Return the jobs that have waited long, and the workers of their pools."""
        rows = await self._database.call("reserve_rounds", epoch=epoch, after_s=after_s)
        return [row[0] for row in rows]

    async def add_reservations(self, epoch: int, kept: Sequence[Keep]) -> int:
        """Keep workers for jobs."""
        incarnation_ids, batch_ids, job_ids, fill_seconds = map(list, zip(*kept, strict=True))
        return int(
            await self._database.value(
                "add_reservations",
                epoch=epoch,
                incarnation_ids=incarnation_ids,
                batch_ids=batch_ids,
                job_ids=job_ids,
                fill_seconds=fill_seconds,
            )
        )
