"""Pools that are described, their machines, and a stranger to them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import msgspec

from store.world import World
from weft.core.pools import Flavour, Pool
from weft.ports.store import Caller

SMALL = Flavour(name="small", cpu_m=1000, memory_mib=1024)


async def others(world: World) -> list[Pool]:
    """Return the pools that are described and are not this world's."""
    rows = await world.api.list_pools(world.caller)
    plans = [row["plan"] for row in rows if row["pool"] != world.pool]
    return [msgspec.convert(plan, Pool) for plan in plans if plan is not None]


@asynccontextmanager
async def described(world: World, max_workers: int = 2) -> AsyncIterator[None]:
    """Describe the world's pool; at the end it has neither machines nor a description."""
    rest = await others(world)
    pool = Pool(name=world.pool, provider="none", max_workers=max_workers, flavours=(SMALL,))
    await world.api.save_pools(world.caller, [*rest, pool])
    try:
        yield
    finally:
        await world.admin.execute(
            "WITH ours AS (SELECT pool_id FROM weft.pool WHERE name = $1), "
            "cost AS (DELETE FROM weft.pool_cost WHERE pool_id IN (SELECT pool_id FROM ours)) "
            "DELETE FROM weft.machine WHERE pool_id IN (SELECT pool_id FROM ours)",
            world.pool,
        )
        await world.api.save_pools(world.caller, rest)


async def add_machine(world: World, *, pool_max: int = 2, state: str = "active") -> str:
    """Add a machine to the world's pool as no function would."""
    name = f"m{uuid4().hex}"
    await world.admin.execute(
        "INSERT INTO weft.machine (pool_id, name, provider, flavour, region, cpu_m, "
        "price_per_hour, pool_max, state, reason, created_at, changed_at) SELECT pool_id, $2, "
        "'none', 'small', '', 1000, 0, $3, $4, '', clock_timestamp(), clock_timestamp() "
        "FROM weft.pool WHERE name = $1",
        world.pool,
        name,
        pool_max,
        state,
    )
    return name


async def stranger(world: World) -> Caller:
    """Return a user of another tenant."""
    tenant = await world.admin.fetchval(
        "INSERT INTO weft.tenant (name) VALUES ('Acme') RETURNING tenant_id"
    )
    user = await world.admin.fetchval(
        "INSERT INTO weft.tenant_user (tenant_id, name) VALUES ($1, 'ann') RETURNING user_id",
        tenant,
    )
    await world.admin.execute(
        "INSERT INTO weft.queue (tenant_id, pool_id, name) "
        "SELECT $1, pool_id, 'default' FROM weft.pool WHERE name = 'default'",
        tenant,
    )
    return Caller(tenant, user, "ann")
