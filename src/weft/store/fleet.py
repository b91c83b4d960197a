"""The part of `ApiStore` for workers, pools and queues."""

from collections.abc import Sequence

import asyncpg
import msgspec

from weft.core.access.actors import shown_actor, shown_reason, site_actor
from weft.core.access.rights import Right
from weft.core.pools import Pool
from weft.core.queues import DEFAULT, Queue
from weft.ports.store import Caller, Row, ShareKey, Waiting
from weft.store.database import StorePart
from weft.store.declared import actor, calls, documents, nothing, number, truth, value
from weft.wire.spec import decode_chunk


def pools_of(caller: Caller) -> int | None:
    """Return the tenant whose pools and workers the caller sees; None: those of all tenants."""
    return None if caller.may(Right.ADMINISTER) else caller.tenant_id


def _shown_workers(rows: Sequence[asyncpg.Record], caller: Caller) -> list[Row]:
    return [shown_worker(row[0], caller) for row in rows]


class Fleet(StorePart):
    """Workers as their operators see them.

    Callers see workers of the pools that `PoolStore.list_pools` shows them.
    A worker is given by its name, and by its pool if several pools have one of that name. Raise
    `WorkerNotFound`, `WorkerAmbiguous`, and `WorkerEnded` where its state would change.

    Pools as operators describe them. Queues of a tenant.
    """

    @calls(
        _shown_workers,
        limit="limit_rows",
        pools_of_tenant_id=pools_of,
        after_name=lambda after: after and after[0],
        after_pool=lambda after: after and after[1],
    )
    async def list_workers(
        self,
        caller: Caller,
        *,
        with_deleted: bool,
        limit: int,
        after: tuple[str, str] | None = None,
    ) -> Sequence[Row]:
        """Return worker documents by name; those that have ended in order only if asked for.
        `after`: name and pool of the last worker of the page before.
        """

    @calls(value, caller=None, limit="limit_rows", pools_of_tenant_id=pools_of)
    async def sum_workers(self, caller: Caller, *, limit: int) -> Row:
        """Return `n_workers` that live, what they have (`cpu`, `memory`), `cpu_used` by jobs as of
        the last fold, and `set_aside`: `worker, pool, state, cordoned_at, cordon_reason` of those
        that take no jobs for a reason, at most `limit`.
        """

    @calls(
        lambda rows, caller: shown_worker(rows[0][0], caller),
        name="of_name",
        pool="of_pool",
        pools_of_tenant_id=pools_of,
    )
    async def get_worker(self, caller: Caller, name: str, pool: str | None) -> Row:
        """Return the document of a worker with its `history`, newest first."""

    async def cordon_worker(
        self, caller: Caller, name: str, pool: str | None, *, reason: str | None
    ) -> bool:
        """Let a worker take no new job; return whether it was not cordoned."""
        return await self._change("cordon_worker", caller, name, pool, reason=reason)

    async def drain_worker(
        self, caller: Caller, name: str, pool: str | None, *, reason: str | None
    ) -> bool:
        """Let a worker take no new job and end when nothing runs; return whether that is new."""
        return await self._change("drain_worker", caller, name, pool, reason=reason)

    async def uncordon_worker(self, caller: Caller, name: str, pool: str | None) -> bool:
        """Let a worker take jobs again; return whether it was cordoned."""
        return await self._change("uncordon_worker", caller, name, pool)

    async def lose_worker(self, caller: Caller, name: str, pool: str | None) -> bool:
        """Give up a silent worker: its attempts are lost. Return whether it lived. Raise
        `WorkerAtWork` if it was heard of just now.
        """
        return await self._change("lose_worker", caller, name, pool)

    async def _change(
        self, function: str, caller: Caller, name: str, pool: str | None, **more: str | None
    ) -> bool:
        actor = site_actor(caller.user_name, tenant_id=caller.tenant_id)
        return bool(
            await self._database.value(function, of_name=name, of_pool=pool, actor=actor, **more)
        )

    @calls(
        documents,
        caller=None,
        name="of_name",
        after="after_name",
        limit="limit_rows",
        of_tenant_id=pools_of,
    )
    async def list_pools(
        self,
        caller: Caller,
        *,
        name: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Row]:
        """Return the pools of the caller's tenant and those that all share, of all tenants to who
        may administer the site, by name: `pool`, `plan` (a document of `Pool`, or None) and
        `machines` (how many by state). `name`: only this one; `after`: the name of the last
        one of the page before; no `limit`: all.
        """

    async def save_pools(self, caller: Caller, pools: Sequence[Pool]) -> None:
        """Make these the pools that are described; make those that do not exist. Raise
        `PoolHasMachines` and change nothing if one with machines would not be described,
        `PoolInUse` if one of a tenant has queues of others, `UnknownTenant`.
        """
        actor = site_actor(caller.user_name, tenant_id=caller.tenant_id)
        await self._database.call("save_pools", pools=msgspec.to_builtins(pools), actor=actor)

    @calls(documents, caller=None, pool="of_pool", limit="limit_rows", pools_of_tenant_id=pools_of)
    async def list_machines(self, caller: Caller, pool: str, *, limit: int) -> Sequence[Row]:
        """Return the machines of a pool that the caller sees, oldest first, without deleted ones;
        none of any other.
        """

    @calls(documents, caller=None, pool="of_pool", days="limit_days", pools_of_tenant_id=pools_of)
    async def list_pool_costs(self, caller: Caller, pool: str, *, days: int) -> Sequence[Row]:
        """Return what the machines of a pool that the caller sees cost by date (UTC) and flavour,
        and what of it jobs used, newest first; nothing of any other.
        """

    async def list_pool_changes(self, caller: Caller, pool: str, *, limit: int) -> Sequence[Row]:
        """Return what was decided about a pool that the caller sees, and why, newest first;
        nothing about any other. Users of other tenants are not told which administrator of the
        site did it.
        """
        tenant = pools_of(caller)
        rows = await self._database.call(
            "list_pool_changes", pools_of_tenant_id=tenant, of_pool=pool, limit_rows=limit
        )
        return [
            {**row[0], "reason": shown_reason(row[0]["reason"], to_tenant_id=tenant)}
            for row in rows
        ]

    @calls(
        documents,
        pool="of_pool",
        limit="limit_rows",
        of_user_id=lambda caller, only_own: caller.user_id if only_own else None,
        after_load=lambda after: None if after is None else after.load,
        after_user=lambda after: None if after is None else after.user_id,
    )
    async def list_shares(
        self,
        caller: Caller,
        pool: str,
        *,
        limit: int,
        after: ShareKey | None = None,
        only_own: bool = False,
        own_tenant: bool = False,
    ) -> Sequence[Row]:
        """Return `user, weight, n_ready, ready_m, running_m, load, user_id` of the users with work
        in a pool: those with ready jobs in the order in which they are served, then those who only
        run jobs, whose `load` is None. `user` is None for those whom the caller does not see,
        `user_id` for those of other tenants.
        `only_own`: of the caller alone. `own_tenant`: of the caller's tenant alone.
        """

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


def shown_worker(document: Row, caller: Caller) -> Row:
    """Return a worker without names that the caller is not shown."""
    tenant, shown = pools_of(caller), {**document}
    if shown["cordoned_by"] is not None:
        shown["cordoned_by"] = shown_actor(shown["cordoned_by"], to_tenant_id=tenant)
    if "history" in shown:
        shown["history"] = [
            {**one, "actor": shown_actor(one["actor"], to_tenant_id=tenant)}
            for one in shown["history"]
        ]
    return shown
