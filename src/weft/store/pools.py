"""The part of `ApiStore` for pools."""

from collections.abc import Sequence

import msgspec

from weft.core.access.actors import shown_reason, site_actor
from weft.core.access.rights import Right
from weft.core.pools import Pool
from weft.ports.store import Caller, Row, ShareKey
from weft.store.database import Database


class Pools:
    """The api's calls about pools. The methods are documented at the port."""

    _database: Database

    async def list_pools(
        self,
        caller: Caller,
        *,
        name: str | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> Sequence[Row]:
        """Return the pools that the caller sees."""
        rows = await self._database.call(
            "list_pools",
            of_tenant_id=pools_of(caller),
            of_name=name,
            after_name=after,
            limit_rows=limit,
        )
        return [row[0] for row in rows]

    async def save_pools(self, caller: Caller, pools: Sequence[Pool]) -> None:
        """Make these the pools that are described."""
        actor = site_actor(caller.user_name, tenant_id=caller.tenant_id)
        await self._database.call("save_pools", pools=msgspec.to_builtins(pools), actor=actor)

    async def list_machines(self, caller: Caller, pool: str, *, limit: int) -> Sequence[Row]:
        """Return the machines of a pool that the caller sees."""
        rows = await self._database.call(
            "list_machines", pools_of_tenant_id=pools_of(caller), of_pool=pool, limit_rows=limit
        )
        return [row[0] for row in rows]

    async def list_pool_costs(self, caller: Caller, pool: str, *, days: int) -> Sequence[Row]:
        """Return what the machines of a pool that the caller sees cost."""
        rows = await self._database.call(
            "list_pool_costs", pools_of_tenant_id=pools_of(caller), of_pool=pool, limit_days=days
        )
        return [row[0] for row in rows]

    async def list_pool_changes(self, caller: Caller, pool: str, *, limit: int) -> Sequence[Row]:
        """Return what was decided about a pool that the caller sees."""
        tenant = pools_of(caller)
        rows = await self._database.call(
            "list_pool_changes", pools_of_tenant_id=tenant, of_pool=pool, limit_rows=limit
        )
        return [
            {**row[0], "reason": shown_reason(row[0]["reason"], to_tenant_id=tenant)}
            for row in rows
        ]

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
        """Return what users run and what is ready."""
        rows = await self._database.call(
            "list_shares",
            caller=caller,
            of_pool=pool,
            of_user_id=caller.user_id if only_own else None,
            after_load=None if after is None else after.load,
            after_user=None if after is None else after.user_id,
            limit_rows=limit,
            own_tenant=own_tenant,
        )
        return [row[0] for row in rows]


def pools_of(caller: Caller) -> int | None:
    """Return the tenant whose pools and workers the caller sees; None: those of all tenants."""
    return None if caller.may(Right.ADMINISTER) else caller.tenant_id
