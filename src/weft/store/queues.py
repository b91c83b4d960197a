"""The part of `ApiStore` about queues."""

from collections.abc import Sequence

import msgspec

from weft.core.queues import DEFAULT, Queue
from weft.ports.store import Caller, Row, Waiting
from weft.store.database import Database
from weft.wire.spec import decode_chunk


class Queues:
    """Queues of a tenant."""

    _database: Database

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
        rows = await self._database.call(
            "list_queues", caller=caller, with_counts=with_counts, below=below, limit_rows=limit
        )
        return [row[0] for row in rows]

    async def save_queues(self, caller: Caller, queues: Sequence[Queue]) -> None:
        """Make these the queues of the tenant, beside `default`; add pools that are new. Raise
        `QueueHasJobs` if one with waiting jobs would go.

        Limits hold for jobs that are submitted from now on, and those that wait behind a limit
        follow when it changes. A submission of too many waiting jobs raises `QueueFull`.
        """
        await self._database.call("save_queues", caller=caller, queues=msgspec.to_builtins(queues))

    async def drain_queue(self, caller: Caller, name: str) -> bool:
        """Let a queue take no more jobs, whatever somebody else saves at the same time. Return
        whether there is one.
        """
        rows = await self._database.call("drain_queue", caller=caller, name=name)
        return bool(rows[0][0])

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

    async def move_jobs(
        self, caller: Caller, batch_id: int, jobs: Sequence[int], *, queue: str, pool: str | None
    ) -> int:
        """Let those of these jobs that wait, and have never run, wait in this queue and pool,
        behind the limits of the queue; None: in the queue `default`. Their history tells it.
        Return how many moved.
        """
        rows = await self._database.call(
            "move_jobs",
            caller=caller,
            batch_id=batch_id,
            job_ids=list(jobs),
            asked={} if queue == DEFAULT else {"queue": queue, "pool": pool},
            actor=f"user {caller.user_name}",
        )
        return int(rows[0][0])
