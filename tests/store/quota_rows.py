"""Quotas of users and tenants, set, used and locked."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from store.world import World
from weft.ports.store import Caller


async def set_quota(world: World, user: str | None, **limits: float | None) -> None:
    await world.api.set_quota(world.caller, user, limits)


async def set_of_tenant(world: World, **limits: float | None) -> None:
    await world.api.set_tenant_quota(world.caller, world.pool, limits)


async def used(world: World, caller: Caller) -> tuple[int, int]:
    """Return how many jobs and batches of a user have not ended."""
    row = (await world.api.list_quotas(caller))[-1]
    assert (row["kind"], row["name"]) == ("user", caller.user_name)
    return row["n_jobs"], row["n_batches"]


@asynccontextmanager
async def quotas_locked(world: World) -> AsyncIterator[None]:
    """Lock the rows that submissions with a quota lock."""
    async with world.transaction() as other:
        await other.execute(
            "SELECT FROM weft.tenant t JOIN weft.tenant_user u USING (tenant_id) "
            "WHERE tenant_id = $1 FOR NO KEY UPDATE OF t, u", world.caller.tenant_id,
        )  # fmt: skip
        yield
