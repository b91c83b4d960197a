"""A pool of one tenant is there for its queues alone; others see nothing of it."""

from dataclasses import replace

import pytest

from store.test_conditions import block, conditions
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.errors import PoolInUse, PoolNotShared, UnknownTenant, WorkerNotFound
from weft.core.pools import Pool
from weft.core.queues import Queue
from weft.ports.store import Caller

BURST = Queue(name="burst", priority=1, pools=("gpu",))


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
        "SELECT $1, pool_id, 'default' FROM weft.pool WHERE name = 'default'", tenant,
    )  # fmt: skip
    return Caller(tenant, user, "ann")


async def seen(world: World, caller: Caller) -> tuple[bool, bool, bool]:
    """Return whether a caller sees the pool `gpu`, its worker in the list, and in the overview."""
    pools = {row["pool"] for row in await world.api.list_pools(caller)}
    listed = await world.api.list_workers(caller, with_deleted=True, limit=9)
    overview = (await world.api.overview(caller))["workers"]
    return (
        "gpu" in pools,
        "gpu" in {row["pool"] for row in listed},
        "gpu" in {row["pool"] for row in overview},
    )


async def test_others_see_neither_the_pool_nor_its_workers(own_world: World) -> None:
    world, ann = own_world, await stranger(own_world)
    await world.admin.execute("INSERT INTO weft.pool (name) VALUES ('gpu')")
    world.pool = "gpu"
    worker = await world.worker("w")
    shared = await seen(world, world.caller), await seen(world, ann)
    await world.api.save_pools(world.caller, [Pool(name="gpu", tenant="acme")])
    admin = replace(world.caller, role=UserRole.ADMIN)

    assert shared == ((True,) * 3, (True,) * 3)
    assert await seen(world, ann) == await seen(world, admin) == (True,) * 3
    assert await seen(world, world.caller) == (False,) * 3
    assert (await world.api.get_worker(ann, "w", None))["pool"] == "gpu"
    for pool in (None, "gpu"):
        with pytest.raises(WorkerNotFound) as refused:
            await world.api.get_worker(world.caller, "w", pool)
        with pytest.raises(WorkerNotFound) as unknown:
            await world.api.get_worker(world.caller, "x", pool)
        assert str(refused.value) == str(unknown.value).replace('"x"', '"w"')
    await worker.store.leave(worker.id)


async def test_queues_use_pools_of_their_tenant_only(own_world: World) -> None:
    world, ann = own_world, await stranger(own_world)
    await world.api.save_queues(world.caller, [BURST, Queue(name="default")])
    with pytest.raises(PoolInUse, match="gpu"):
        await world.api.save_pools(world.caller, [Pool(name="gpu", tenant="acme")])
    await world.api.save_queues(world.caller, [Queue(name="default")])
    with pytest.raises(UnknownTenant, match="nobody"):
        await world.api.save_pools(world.caller, [Pool(name="gpu", tenant="nobody")])
    await world.api.save_pools(world.caller, [Pool(name="gpu", tenant="acme")])
    await world.api.save_queues(ann, [BURST, Queue(name="default")])
    with pytest.raises(PoolNotShared, match="gpu"):
        await world.api.save_queues(world.caller, [BURST, Queue(name="default")])

    assert [one["name"] for one in await world.api.list_queues(world.caller)] == ["default"]
    assert {one["name"] for one in await world.api.list_queues(ann)} == {"burst", "default"}


async def test_pool_that_is_described_no_more_stays_with_its_tenant(own_world: World) -> None:
    world, ann = own_world, await stranger(own_world)
    await world.api.save_pools(world.caller, [Pool(name="gpu", tenant="acme")])
    await world.api.save_pools(world.caller, [])
    left_out = (await seen(world, world.caller))[0], (await seen(world, ann))[0]
    old = [{"name": "gpu", "min_workers": 0}]  # which says nothing of a tenant
    await world.admin.execute("SELECT weft.save_pools($1, 'old')", old)
    by_old = (await seen(world, world.caller))[0]
    await world.api.save_pools(world.caller, [Pool(name="gpu")])

    assert left_out == (False, True)
    assert not by_old
    assert (await seen(world, world.caller))[0]


async def test_tester_tells_nothing_of_a_pool_of_others(own_world: World) -> None:
    """A job may wait for any pool; the test says that there is none."""
    world, ann = own_world, await stranger(own_world)
    worker = await world.worker()
    await world.submit()
    await block(worker, *await worker.claim())
    (one,) = await conditions(world)
    await world.admin.execute("INSERT INTO weft.pool (name) VALUES ('gpu')")
    world.pool = "gpu"
    await world.worker("g")
    epoch, number = await world.lead(), one["condition_id"]
    shared = await world.driver.test_pool(epoch, number, "gpu", 0)
    await world.api.save_pools(ann, [Pool(name="gpu", tenant="acme")])
    taken = await world.driver.test_pool(epoch, number, "gpu", 0)

    assert (shared.passed, shared.message) == (True, "pool gpu has active workers: 1")
    assert (taken.passed, taken.message) == (False, "there is no pool gpu")
