"""Sums of machines by pool, which pages show: how many there are, and what they cost until now."""

import pytest

from store.test_pool_costs import age, set_price
from store.test_pools import add_machine, described
from store.world import World

CHECK = "machines_are_counted"
ADD = (
    "INSERT INTO weft.machine_sum SELECT pool_id, flavour, state, 0, 0, 0, 0, 0, 0, 0, 0 "
    "FROM weft.machine_sum LIMIT 1"
)


async def test_sums_follow_machines_from_their_making_to_their_end(own_world: World) -> None:
    world = own_world
    async with described(world):
        epoch = await world.lead()
        names = [await add_machine(world) for _ in range(2)]
        await set_price(world, "3")
        await world.driver.count_machines(epoch, {names[0]: 0.5})
        for name in names:
            await age(world, name, 2)
        assert CHECK not in await world.findings()
        (pool,) = await world.api.list_pools(world.caller, name=world.pool)
        (cost,) = await world.api.list_pool_costs(world.pool, days=9)
        await world.driver.record_machine(epoch, names[0], "gone", reason="gone")
        (after,) = await world.api.list_pools(world.caller, name=world.pool)
        assert CHECK not in await world.findings()

    assert sum(pool["machines"].values()) == 2
    assert sum(after["machines"].values()) == 1
    assert cost["machine_hours"] == pytest.approx(4, abs=0.01)
    assert cost["cost"] == pytest.approx(12, abs=0.1)
    assert cost["used_cost"] == pytest.approx(3, abs=0.1)


async def test_many_changes_leave_few_rows(own_world: World) -> None:
    world = own_world
    async with described(world):
        epoch = await world.lead()
        name = await add_machine(world)
        for _ in range(200):
            await world.admin.execute(ADD)
        await world.driver.count_machines(epoch, {name: 0.25})
        n_rows = await world.admin.fetchval("SELECT count(*) FROM weft.machine_sum")
        (pool,) = await world.api.list_pools(world.caller, name=world.pool)
        assert CHECK not in await world.findings()

    assert n_rows == 1
    assert sum(pool["machines"].values()) == 1


async def test_audit_sees_wrong_sums(own_world: World) -> None:
    world = own_world
    async with described(world):
        await add_machine(world)
        for change in (
            "UPDATE weft.machine_sum SET n = n + 1",
            "UPDATE weft.machine_sum SET n = n - 1, price_from = price_from + 1",
        ):
            await world.admin.execute(change)
            assert CHECK in await world.findings()
        await world.admin.execute("UPDATE weft.machine_sum SET price_from = price_from - 1")
        assert CHECK not in await world.findings()
