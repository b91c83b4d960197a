"""What machines of pools cost, and how much of it jobs used."""

import pytest

from store.pool_rows import add_machine, described
from store.test_faulty_providers import Site
from store.world import World
from weft.core.billing.rates import MachinePrice
from weft.core.errors import FlavourNotFound
from weft.store import open_admin

CHECK = "pool_costs_equal_machines"


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
        assert CHECK not in await world.findings()
        rows = await world.api.list_pool_changes(world.caller, world.pool, limit=9)
        log = [one["reason"] for one in rows]

    assert halfway == {
        "machine_hours": 7, "used_hours": 2, "cost": 14, "used_cost": 4, "idle_cost": 10,
    }  # fmt: skip
    assert found == {
        "machine_hours": 8, "used_hours": 2.5, "cost": 24, "used_cost": 9, "idle_cost": 15,
    }  # fmt: skip
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
        assert CHECK not in await world.findings()
        changed = await world.findings_after(
            "UPDATE weft.pool_cost SET machine_us = machine_us + 1 WHERE pool_id = "
            "(SELECT pool_id FROM weft.pool WHERE name = $1)", world.pool,
        )  # fmt: skip
        (found,) = changed[CHECK]

    assert (found["pool"], found["flavour"]) == (world.pool, "small")


async def test_a_price_of_no_flavour_is_refused(world: World) -> None:
    async with open_admin(world.backend.dsns["admin"]) as admin:
        with pytest.raises(FlavourNotFound, match="large"):
            await admin.set_machine_prices(
                [MachinePrice(world.pool, "large", "1")], actor="the owner"
            )
