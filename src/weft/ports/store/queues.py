"""The calls of the api about queues."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from weft.core.queues import Queue
from weft.ports.store.callers import Caller, Row


class Waiting(NamedTuple):
    """Some jobs of a batch that wait."""

    batch_id: int
    last_job: int
    """The last one that was looked at."""
    jobs: Sequence[Row]
    """What guards read: `job_id`, `name`, `attributes`, `n_jobs` of the array (None: no array),
    `priority`, `always_run`, `max_attempts`, `cpu_m`, `memory_mib`, `storage_mib`, `gpu`, `asked`
    (with `queue` and `pool`), `named` (the job names its queue), `spec`.
    """


class QueueStore(Protocol):
    """Queues of a tenant."""

    async def list_queues(
        self,
        caller: Caller,
        *,
        with_counts: bool = True,
        below: int | None = None,
        limit: int | None = None,
    ) -> Sequence[Row]:
        """Return queues in the order of routing, `default` last: the fields of `Queue`,
        `n_waiting` and `n_running` (None without counts, and of those that take no jobs of a
        caller who does not see the tenant). `below`: only those of a lower priority; no `limit`:
        all.
        """

    async def save_queues(self, caller: Caller, queues: Sequence[Queue]) -> None:
        """Make these the queues of the tenant, beside `default`; add pools that are new. Raise
        `QueueHasJobs` if one with waiting jobs would go.

        Limits hold for jobs that are submitted from now on, and those that wait behind a limit
        follow when it changes. A submission of too many waiting jobs raises `QueueFull`.
        """

    async def drain_queue(self, caller: Caller, name: str) -> bool:
        """Let a queue take no more jobs, whatever somebody else saves at the same time. Return
        whether there is one.
        """

    async def list_waiting(
        self, caller: Caller, *, after: tuple[int, int], limit: int
    ) -> Waiting | None:
        """Return the next jobs of the tenant that wait and have never run, all of one batch; after
        this batch and job, and at most `limit`. None: there are no more.
        """

    async def move_jobs(
        self, caller: Caller, batch_id: int, jobs: Sequence[int], *, queue: str, pool: str | None
    ) -> int:
        """Let those of these jobs that wait, and have never run, wait in this queue and pool,
        behind the limits of the queue; None: in the queue `default`. Their history tells it.
        Return how many moved.
        """
