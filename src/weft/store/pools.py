"""Pools, in the api's store."""

from collections.abc import Sequence

import msgspec

from weft.core.access.actors import shown_reason, site_actor
from weft.core.access.rights import Right
from weft.core.pools import Pool
from weft.ports.store import Caller, Row, ShareKey
from weft.store.database import StorePart
from weft.store.declared import (
    calls,
    documents,
    records,
)


def pools_of(caller: Caller) -> int | None:
    """Return the tenant whose pools and workers the caller sees; None: those of all tenants."""
    return None if caller.may(Right.ADMINISTER) else caller.tenant_id


class Pools(StorePart):
    """Pools as operators describe them."""

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

    @calls(records)
    async def pool_offers(self) -> Sequence[Row]:
        """Return `cpu_m, memory_mib, offers, serves_tenant_id` of every known worker, the largest
        memory first; `offers` by name, storage and gpu included (`core/scheduling/offers.py`).

        `serves_tenant_id`: the tenant whose jobs alone run there; None: those of all tenants.
        """
