"""Workers, in the stores of the api and the driver."""

from collections.abc import Sequence

import asyncpg

from weft.core.access.actors import shown_actor, site_actor
from weft.ports.store import (
    Caller,
    Row,
)
from weft.store.database import (
    StorePart,
)
from weft.store.declared import (
    calls,
    records,
    value,
)
from weft.store.pools import pools_of


def _shown_workers(rows: Sequence[asyncpg.Record], caller: Caller) -> list[Row]:
    return [shown_worker(row[0], caller) for row in rows]


class Workers(StorePart):
    """Workers as their operators see them.

    Callers see workers of the pools that `PoolStore.list_pools` shows them.
    A worker is given by its name, and by its pool if several pools have one of that name. Raise
    `WorkerNotFound`, `WorkerAmbiguous`, and `WorkerEnded` where its state would change.
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


class SilentWorkers(StorePart):
    """What the driver does about workers that are silent, or do not stop attempts."""

    @calls(records)
    async def lose_workers(self, epoch: int, grace_s: float) -> Sequence[Row]:
        """End the attempts of workers that were silent longer than the grace, as lost.

        Return for each such worker, once, `worker`, `n_attempts` and `silent_s`.
        """

    @calls(records)
    async def stop_overdue(
        self, epoch: int, *, limit_jobs: int, confirm_s: float
    ) -> Sequence[Row]:
        """End attempts that are beyond a limit of their queue, and tell their workers.

        The jobs go on once the workers have stopped them. A worker that has not done so after
        `confirm_s` is given up.
        Return `batch_id`, `job_id`, `attempt`, `worker`, `message` and `goes_on` of each attempt;
        of a worker that was given up only `worker` and `message`. Call it again until it returns
        nothing.
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
