"""Preemptions of running jobs, in the driver's store."""

from collections.abc import Sequence

from weft.ports.store import Row
from weft.store.database import StorePart
from weft.store.declared import calls, column, documents, number


class Preemptions(StorePart):
    """The driver's calls that stop jobs for others."""

    @calls(documents)
    async def preemption_rounds(self, epoch: int) -> Sequence[Row]:
        """Return for each pool in which jobs of queues with a priority are ready: `pool`,
        `waiting` and `hosts`, documents of `core.preemption`. Jobs that have caused a preemption
        since they last ran are left out.
        """

    @calls(
        number,
        waiting_batch_id=lambda waiting: waiting[0],
        waiting_job_id=lambda waiting: waiting[1],
        batch_ids=column("stopped", 0),
        job_ids=column("stopped", 1),
        attempts=column("stopped", 2),
    )
    async def preempt_jobs(
        self,
        epoch: int,
        waiting: tuple[int, int],
        stopped: Sequence[tuple[int, int, int]],
        *,
        wait_s: float,
    ) -> int:
        """Stop running attempts that are preemptible for a job that waits; return how many.

        Each ends as preempted and may start again after `wait_s`. 0 if the job that waits has
        caused this before and has not run since. Safe to repeat.
        """
