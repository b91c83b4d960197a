"""Queues, in the api's store."""

from collections.abc import Sequence

import msgspec

from weft.core.queues import DEFAULT, Queue
from weft.ports.store import Caller, Row, Waiting
from weft.store.database import StorePart
from weft.store.declared import actor, calls, documents, nothing, number, truth
from weft.wire.spec import decode_chunk


class Queues(StorePart):
    """Queues of a tenant."""

    @calls(documents, limit="limit_rows")
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

    @calls(nothing, queues=("queues", msgspec.to_builtins))
    async def save_queues(self, caller: Caller, queues: Sequence[Queue]) -> None:
        """Make these the queues of the tenant, beside `default`; add pools that are new. Raise
        `QueueHasJobs` if one with waiting jobs would go.

        Limits hold for jobs that are submitted from now on, and those that wait behind a limit
        follow when it changes. A submission of too many waiting jobs raises `QueueFull`.
        """

    @calls(truth)
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
        rows = await self._database.call(
            "list_waiting",
            caller=caller,
            after_batch=after[0],
            after_job=after[1],
            limit_jobs=limit,
        )
        if not rows:
            return None
        (row,) = rows
        chunks = await self._database.call(
            "get_specs",
            caller=caller,
            of_batch_id=row["batch_id"],
            first_jobs=sorted({job["spec_first"] for job in row["jobs"]}),
        )
        specs = {one["first_job"]: decode_chunk(one["body"]) for one in chunks}
        for job in row["jobs"]:
            chunk = specs[job["spec_first"]]
            # The jobs of an array share one spec.
            job["spec"] = chunk[min(job["job_id"] - job["spec_first"], len(chunk) - 1)]
        return Waiting(row["batch_id"], row["last_job"], row["jobs"])

    @calls(
        number,
        jobs="job_ids",
        asked=lambda pool, queue: {} if queue == DEFAULT else {"queue": queue, "pool": pool},
        actor=actor,
    )
    async def move_jobs(
        self, caller: Caller, batch_id: int, jobs: Sequence[int], *, queue: str, pool: str | None
    ) -> int:
        """Let those of these jobs that wait, and have never run, wait in this queue and pool,
        behind the limits of the queue; None: in the queue `default`. Their history tells it.
        Return how many moved.
        """
