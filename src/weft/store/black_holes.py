"""Workers on which jobs fail at once, in the driver's store."""

from collections.abc import Sequence

from weft.ports.store import Row
from weft.store.database import StorePart
from weft.store.declared import calls, records, value


class BlackHoles(StorePart):
    """The driver's calls about workers that break."""

    @calls(records)
    async def recent_ends(
        self, epoch: int, *, window_s: float, fast_s: float, limit_events: int
    ) -> Sequence[Row]:
        """Return how the newest attempts ended, newest first, as fields of
        `core.black_holes.Ends`: at most `limit_events` events that are at most this old.

        `fast_s`: a failure within this time is one at once. Ends before a worker was last
        uncordoned are left out, and cancelled, preempted and lost attempts.
        """

    @calls(records)
    async def black_holes(self, epoch: int) -> Sequence[Row]:
        """Return the workers that `move_black_hole` has cordoned, unless they drain: `worker_id`,
        `worker`, `n_tries` that failed, `outcome` of the last one (`none`, `running`, `success`,
        `failure`, `unknown`), and `due_in_s` until there is something to do; None: nothing.
        """

    @calls(value, worker_id="of_worker_id")
    async def move_black_hole(
        self, epoch: int, worker_id: int, decision: str, reason: str, *, retry_s: float
    ) -> str | None:
        """`cordon` a worker, let it `try` one job, `wait` after a failed try, or `uncordon` it.

        `retry_s`: until the next try, also if this one does not take place. Return its name; None:
        somebody else has changed its state, or it has ended. Safe to repeat.
        """
