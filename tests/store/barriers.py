"""What keeps jobs from being offered – gates, holds and quotas –, as tests set and sweep it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from store.world import World
from weft.ports.store import Caller, Claimed, NewGroup

TREE = [
    NewGroup(group_id=1, parent_id=0, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b"),
    NewGroup(group_id=3, parent_id=0, name="c"),
    NewGroup(group_id=4, name="pca", is_set=True),
]


def numbers(claimed: list[Claimed]) -> list[int]:
    return sorted(one.job_id for one in claimed)


async def hold(world: World, batch: int, group: int = 0) -> bool:
    return await world.api.hold_group(world.caller, batch, group)


async def release(world: World, batch: int, group: int = 0) -> bool:
    return await world.api.release_group(world.caller, batch, group)


async def park(world: World, limit: int = 10_000) -> int:
    """Sweep until nothing is left; return how many steps that were."""
    for steps in range(10_000):
        if not await world.driver.sweep("sweep_holds", await world.lead(), limit_jobs=limit):
            return steps
    raise AssertionError


async def hold_and_park(world: World, batch: int, group: int = 0) -> None:
    await hold(world, batch, group)
    await park(world)


async def parked(world: World, batch: int) -> list[int]:
    rows = await world.admin.fetch(
        "SELECT job_id FROM weft.ready_job WHERE batch_id = $1 AND gate_set_id = 1 ORDER BY 1",
        batch,
    )
    return [row["job_id"] for row in rows]


async def licence(
    world: World,
    n: int | None,
    *batches: int,
    name: str = "",
    **more: Any,  # noqa: ANN401 (columns of a gate)
) -> int:
    """Put empty batches behind a gate that they share, beside those that they have.

    A gate with a date rings the driver, as whoever interns one must.
    """
    gate: int = await world.admin.fetchval(
        "INSERT INTO weft.gate (kind, key, max_places, opens_at) VALUES ('test', $1, $2, $3) "
        "ON CONFLICT (kind, key) DO UPDATE SET key = excluded.key RETURNING gate_id",
        f"{world.pool}-{name or batches}",
        n,
        more.get("opens_at"),
    )
    if more.get("opens_at"):
        await world.admin.execute("SELECT weft._ring_gates(ARRAY[$1::int])", gate)
    for batch in batches:
        await world.admin.execute(
            "UPDATE weft.batch SET gated = true, gate_set_id = weft._gate_set_id("
            "(SELECT gate_ids FROM weft.gate_set s WHERE s.gate_set_id = batch.gate_set_id) "
            "|| $2::int) WHERE batch_id = $1",
            batch,
            gate,
        )
    return gate


async def limit_empty(world: World, batch: int, n: int) -> None:
    """Give an empty batch `max_running`, as whoever creates it may."""
    await world.admin.execute(
        "UPDATE weft.batch b SET gated = true, gate_set_id = (weft._intern_gates("
        "b.tenant_id, b.batch_id, ARRAY[jsonb_build_array(jsonb_build_object("
        "'kind', 'max_running', 'max_places', $2::int))]))[1] WHERE b.batch_id = $1",
        batch,
        n,
    )


async def change_limit(connection: asyncpg.Connection, batch: int, n: int) -> None:
    """Change `max_running` of a batch, for whoever passes its gate next.

    So do submissions that name a shared gate with another number of places.
    """
    await connection.execute(
        "INSERT INTO weft.gate_note (gate_id, n_freed, max_places) "
        "SELECT gate_id, 0, $2 FROM weft.gate WHERE kind = 'max_running' AND batch_id = $1",
        batch,
        n,
    )


_PLACES = "SELECT job_id FROM weft.place WHERE batch_id = $1 ORDER BY job_id"


async def places(world: World, batch: int) -> list[int]:
    """Return the jobs of a batch that have a place."""
    return [row["job_id"] for row in await world.admin.fetch(_PLACES, batch)]


async def visit(world: World, *, in_s: float = 0) -> int:
    """Let the driver pass the gates, as if some seconds later; return how many jobs it moved."""
    moved = 0
    at = datetime.now(UTC) + timedelta(seconds=in_s)
    while count := await world.call("pass_gates", epoch=await world.lead(), limit_jobs=100, at=at):
        moved += count[0]["pass_gates"]
        if not count[0]["pass_gates"]:
            break
    return moved


async def limit(world: World, batch: int, n: int) -> None:
    """Change max_running of a batch, and let the driver look at its gate."""
    await change_limit(world.admin, batch, n)
    await visit(world)


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
            "WHERE tenant_id = $1 FOR NO KEY UPDATE OF t, u",
            world.caller.tenant_id,
        )
        yield
