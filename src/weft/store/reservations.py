"""Workers that are kept for jobs, in the driver's store."""

from collections.abc import Sequence

from weft.core.pools.keep import Keep
from weft.ports.store import Row
from weft.store.database import StorePart
from weft.store.declared import calls, column, documents, number


class Reservations(StorePart):
    """The driver's calls about kept workers."""

    @calls(documents)
    async def reserve_rounds(self, epoch: int, *, after_s: float) -> Sequence[Row]:
        """Return for each pool in which jobs have waited for `after_s`: `jobs` and `workers`, as
        `core.pools.keep` reads them. Workers are not kept any more for jobs that have started or
        do not wait.
        """

    @calls(
        number,
        incarnation_ids=column("kept", 0),
        batch_ids=column("kept", 1),
        job_ids=column("kept", 2),
        fill_seconds=column("kept", 3),
    )
    async def add_reservations(self, epoch: int, kept: Sequence[Keep]) -> int:
        """Keep workers for jobs. Return how many are new: a worker is kept for one job, and a job
        has one worker. Of a worker that is kept already `fill_s` counts if it ends earlier.
        """
