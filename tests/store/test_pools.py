"""Pools: how they grow and shrink, in regions, and for one tenant alone."""

from dataclasses import replace

import asyncpg
import msgspec
import pytest

from builders import job_rows
from store.pool_rows import SMALL, add_machine, described, others, stranger
from store.test_conditions import block, conditions
from store.test_faulty_providers import Site
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.billing.rates import MachinePrice
from weft.core.errors import (
    FlavourNotFound,
    PoolHasMachines,
    PoolInUse,
    PoolNotShared,
    UnknownTenant,
    WorkerNotFound,
)
from weft.core.pools import Demand, Flavour, Pool, decide
from weft.core.queues import Queue
from weft.ports.store import Caller, Row, Shape
from weft.store import open_admin

CHECK = "machines_belong_to_pools"


async def round_of(world: World) -> Row:
    """Return what there is to decide about the world's pool."""
    rows = await world.driver.pool_rounds(await world.lead(), limit_jobs=1)
    return next(one for one in rows if one["plan"]["name"] == world.pool)


async def test_a_pool_with_machines_stays_described(world: World) -> None:
    async with described(world):
        name = await add_machine(world)
        with pytest.raises(PoolHasMachines, match=world.pool):
            await world.api.save_pools(world.caller, await others(world))
        (row,) = [
            one for one in await world.api.list_pools(world.caller) if one["pool"] == world.pool
        ]
        (machine,) = await world.api.list_machines(world.caller, world.pool, limit=9)

        assert row["machines"] == {"active": 1}
        assert (machine["machine"], machine["flavour"]) == (name, "small")


async def test_the_audit_finds_machines_beyond_the_maximum_or_without_a_pool(world: World) -> None:
    async with described(world):
        await add_machine(world)
        await add_machine(world, state="deleted")
        await add_machine(world)
        assert CHECK not in await world.findings()
        third = await add_machine(world)
        found = (await world.findings())[CHECK]
        await world.admin.execute("DELETE FROM weft.machine WHERE name = $1", third)
        await world.admin.execute("UPDATE weft.pool SET plan = NULL WHERE name = $1", world.pool)
        orphans = (await world.findings())[CHECK]

    assert [(one["machine"], one["finding"]) for one in found] == [
        (third, "3 machines, at most 2")
    ]
    assert {one["finding"] for one in orphans} == {"nobody describes its pool"}


async def test_every_machine_has_an_owner_or_is_said_to_have_none(world: World) -> None:
    async with described(world), open_admin(world.backend.dsns["admin"]) as admin:
        owned, stray = [await add_machine(world) for _ in range(2)]
        await world.admin.execute(
            "UPDATE weft.machine SET strayed_at = created_at WHERE name = $1", stray
        )
        machines = await admin.machines()
        assert CHECK not in await world.findings()

    owners = {one["machine"]: one["owner"] for one in machines}
    assert owners[owned] == f"pool {world.pool}"
    assert owners[stray] == "nobody: weft has not asked for it"


async def test_numbers_of_machines_follow_each_other(world: World) -> None:
    async with described(world):
        pool_id = (await round_of(world))["pool_id"]
        new = [("small", "", "why")] * 3
        names = await world.driver.add_machines(await world.lead(), pool_id, new)

    first, second = (int(name.removeprefix(f"{world.pool}-")) for name in names)
    assert second == first + 1


async def test_a_machine_is_old_when_its_flavour_is_described_otherwise(world: World) -> None:
    async def old() -> list[bool]:
        return [one["is_old"] for one in (await round_of(world))["machines"]]

    async with described(world):
        await add_machine(world)
        pool_id = (await round_of(world))["pool_id"]
        new = [("small", "", "why")]
        assert len(await world.driver.add_machines(await world.lead(), pool_id, new)) == 1
        assert await old() == [False, False]
        for change in ({"price_per_hour": "7"}, {"labels": {"image": "v2"}}):
            flavour = msgspec.structs.replace(SMALL, **change)
            pool = Pool(name=world.pool, provider="none", max_workers=2, flavours=(flavour,))
            await world.api.save_pools(world.caller, [*await others(world), pool])
            assert await old() == [False, "labels" in change]


async def test_logins_read_no_machines(world: World) -> None:
    for role in ("weft_api", "weft_worker", "weft_driver"):
        async with world.admin.transaction():
            await world.admin.execute(f"SET LOCAL ROLE {role}")
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                async with world.admin.transaction():
                    await world.admin.fetch("SELECT FROM weft.machine")


@pytest.mark.parametrize("was_cordoned", [False, True])
async def test_a_machine_that_a_person_cordons_is_left_alone(
    world: World, *, was_cordoned: bool
) -> None:
    """Also one that was cordoned for lack of work, and whatever was decided before."""
    async with described(world):
        epoch = await world.lead()
        name = await add_machine(world)
        await world.worker(name)
        await world.driver.pool_rounds(epoch, limit_jobs=1)
        if was_cordoned:
            assert await world.driver.move_machine(epoch, name, "cordon", "idle")
        cordoned = await world.api.cordon_worker(world.caller, name, world.pool, reason="mine")
        moved = [
            await world.driver.move_machine(epoch, name, decision, "why")
            for decision in ("cordon", "uncordon", "delete")
        ]
        row = await round_of(world)
        shown = await world.api.get_worker(world.caller, name, world.pool)

        assert cordoned
        assert moved == [False] * 3
        assert [one["is_held"] for one in row["machines"]] == [True]
        assert (shown["state"], shown["cordon_reason"]) == ("cordoned", "mine")
        await world.api.uncordon_worker(world.caller, name, world.pool)
        assert await world.driver.move_machine(epoch, name, "delete", "why")


async def test_a_machine_on_which_everything_fails_goes_unless_a_person_cordons_it(
    world: World,
) -> None:
    async with described(world):
        epoch = await world.lead()
        names = [await add_machine(world) for _ in range(2)]
        workers = [await world.worker(name) for name in names]
        for worker in workers:
            worker_id = worker.registered.worker_id
            assert await world.driver.move_black_hole(epoch, worker_id, "cordon", "", retry_s=9)
        broken, cordoned = names
        await world.api.cordon_worker(world.caller, cordoned, world.pool, reason="mine")
        row = await round_of(world)
        found = {one["name"]: (one["is_broken"], one["is_held"]) for one in row["machines"]}
        moved = [await world.driver.move_machine(epoch, name, "delete", "why") for name in names]
        (change, *_) = await world.api.list_pool_changes(world.caller, world.pool, limit=1)

        assert found == {broken: (True, False), cordoned: (False, True)}
        assert moved == [True, False]
        assert (change["machine"], change["kind"], change["reason"]) == (broken, "delete", "why")
        shown = await world.api.get_worker(world.caller, broken, world.pool)
        assert shown["state"] == "draining"


async def test_an_empty_pool_is_looked_at_while_its_provider_has_another(world: World) -> None:
    """What its options name is kept: the images of its template are no leftovers."""

    async def is_there() -> bool:
        rows = await world.driver.pool_rounds(await world.lead(), limit_jobs=1)
        return world.pool in [row["plan"]["name"] for row in rows]

    rest = await others(world)
    names = ("none-a", "none-b")
    empty = [
        Pool(name=world.pool, provider=names[0], max_workers=0, flavours=(SMALL,)),
        Pool(name=f"{world.pool}-b", provider=names[1], max_workers=2, flavours=(SMALL,)),
    ]
    try:
        await world.api.save_pools(world.caller, [*rest, *empty])
        assert not await is_there()
        beside = msgspec.structs.replace(empty[1], provider=names[0])
        await world.api.save_pools(world.caller, [*rest, empty[0], beside])
        assert await is_there()
    finally:
        await world.api.save_pools(world.caller, rest)


FLAVOUR = Flavour(name="one", cpu_m=1000, memory_mib=1024)
JOBS = 300


async def look(world: World) -> Row:
    """Return what the driver sees of the world's pool, from at most a few jobs."""
    rows = await world.driver.pool_rounds(await world.lead(), limit_jobs=20)
    (found,) = [one for one in rows if one["plan"]["name"] == world.pool]
    return found


@pytest.mark.parametrize("is_interleaved", [True, False])
async def test_a_full_region_does_not_hide_jobs_of_another(
    world: World, *, is_interleaved: bool
) -> None:
    pool = Pool(
        name=world.pool, provider="none", max_workers=2, regions=("a", "b"), flavours=(FLAVOUR,)
    )
    await world.api.save_pools(world.caller, [*await others(world), pool])
    shapes = [
        Shape(cpu_m=1000, memory_mib=512, words=(("pool", world.pool), ("region", region)))
        for region in "ab"
    ]
    order = [n % 2 if is_interleaved else n * 2 // JOBS for n in range(JOBS)]
    batch = await world.submit(job_rows(JOBS, shapes=shapes, shape_index=order))
    seen = await look(world)
    demand = msgspec.convert(seen["demand"], list[Demand])
    (new, *more) = decide(pool, demand, [], ("a",))
    worker = await world.worker("w", cpu_m=1000, memory_mib=1024, region=new.region)
    claimed = await worker.claim(1)
    regions = [
        (
            await world.admin.fetchval(
                "SELECT l.asks ->> 'region' FROM weft.job j JOIN weft.lane l USING (lane_id) "
                "WHERE j.batch_id = $1 AND j.job_id = $2",
                one.batch_id,
                one.job_id,
            )
        )
        for one in claimed
    ]
    await worker.end(*claimed)
    await world.api.save_pools(world.caller, await others(world))

    assert {one.asks["region"]: one.n_jobs for one in demand} == {"a": 10, "b": 10}
    assert {one.region for one in (new, *more)} == {"b"}
    assert regions == ["b"]
    assert batch == claimed[0].batch_id


BURST = Queue(name="burst", priority=1, pools=("gpu",))


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


COST_CHECK = "pool_costs_equal_machines"


async def age(world: World, machine: str, hours: float) -> None:
    """Let a machine have existed for longer, as far as it is not counted."""
    await world.age("machine", "created_at", "costs_from", by_s=hours * 3600, name=machine)


async def set_price(world: World, price: str) -> int:
    """Set the price of the small flavour as the owner does."""
    async with open_admin(world.backend.dsns["admin"]) as admin:
        return await admin.set_machine_prices(
            [MachinePrice(world.pool, "small", price)], actor="the owner"
        )


async def sums(world: World) -> dict[str, float]:
    """Return what the pool cost, rounded."""
    (row,) = await world.api.list_pool_costs(world.caller, world.pool, days=9)
    assert row["flavour"] == "small"
    names = ("machine_hours", "used_hours", "cost", "used_cost", "idle_cost")
    return {name: round(row[name], 2) for name in names}


async def test_machines_cost_what_their_price_was_at_the_time(world: World) -> None:
    async with described(world):
        epoch = await world.lead()
        name = await add_machine(world)
        assert await set_price(world, "2") == 1
        assert await set_price(world, "2.0") == 0
        await age(world, name, 3)
        await world.driver.count_machines(epoch, {name: 0.5})
        await age(world, name, 4)
        halfway = await sums(world)
        await set_price(world, "10")
        await age(world, name, 1)
        await world.driver.record_machine(epoch, name, "gone", reason="gone")
        await world.driver.record_machine(epoch, name, "gone", reason="gone")
        found = await sums(world)
        assert COST_CHECK not in await world.findings()
        rows = await world.api.list_pool_changes(world.caller, world.pool, limit=9)
        log = [one["reason"] for one in rows]

    assert halfway == {
        "machine_hours": 7,
        "used_hours": 2,
        "cost": 14,
        "used_cost": 4,
        "idle_cost": 10,
    }
    assert found == {
        "machine_hours": 8,
        "used_hours": 2.5,
        "cost": 24,
        "used_cost": 9,
        "idle_cost": 15,
    }
    assert "the owner changed the price of flavour small from 0 to 2 per hour" in log


async def test_the_driver_counts_what_jobs_use(world: World) -> None:
    async with described(world):
        await world.submit(2)
        site = Site(world, await world.lead())
        await site.rounds()
        busy, idle = site.provider.machines
        worker = await world.worker(busy, cpu_m=1000, memory_mib=1024)
        await world.worker(idle, cpu_m=1000, memory_mib=1024)
        (job,) = await worker.claim(1)
        await site.rounds()
        rows = await world.admin.fetch(
            "SELECT name, used_share FROM weft.machine WHERE name = ANY ($1)", [busy, idle]
        )
        await worker.end(job)
        await site.rounds()
        after = await world.admin.fetchval(
            "SELECT used_share FROM weft.machine WHERE name = $1", busy
        )

    assert {row["name"]: row["used_share"] for row in rows} == {busy: 1.0, idle: 0.0}
    assert after == 0


async def test_the_audit_finds_costs_that_no_machine_made(world: World) -> None:
    async with described(world):
        name = await add_machine(world)
        await world.driver.count_machines(await world.lead(), {name: 0.0})
        assert COST_CHECK not in await world.findings()
        changed = await world.findings_after(
            "UPDATE weft.pool_cost SET machine_us = machine_us + 1 WHERE pool_id = "
            "(SELECT pool_id FROM weft.pool WHERE name = $1)",
            world.pool,
        )
        (found,) = changed[COST_CHECK]

    assert (found["pool"], found["flavour"]) == (world.pool, "small")


async def test_a_price_of_no_flavour_is_refused(world: World) -> None:
    async with open_admin(world.backend.dsns["admin"]) as admin:
        with pytest.raises(FlavourNotFound, match="large"):
            await admin.set_machine_prices(
                [MachinePrice(world.pool, "large", "1")], actor="the owner"
            )
