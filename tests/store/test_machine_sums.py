"""Sums of machines by pool, which pages show: how many there are, and what they cost until now."""

import asyncio

import asyncpg
import pytest

from store.pool_rows import add_machine, described
from store.test_pool_costs import age, set_price
from store.world import World

CHECK = "machines_are_counted"
ADD = (
    "INSERT INTO weft.machine_sum SELECT pool_id, flavour, state, 0, 0, 0, 0, 0, 0, 0, 0 "
    "FROM weft.machine_sum LIMIT 1"
)

COUNT = "UPDATE weft.machine SET costs_from = clock_timestamp() WHERE name = $1"
FOLD = "SELECT weft._fold_machine_sums(1)"
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'"


async def test_sums_follow_machines_from_their_making_to_their_end(own_world: World) -> None:
    async with described(own_world):
        epoch = await own_world.lead()
        names = [await add_machine(own_world) for _ in range(2)]
        await set_price(own_world, "3")
        await own_world.driver.count_machines(epoch, {names[0]: 0.5})
        for name in names:
            await age(own_world, name, 2)
        assert CHECK not in await own_world.findings()
        (pool,) = await own_world.api.list_pools(own_world.caller, name=own_world.pool)
        (cost,) = await own_world.api.list_pool_costs(own_world.caller, own_world.pool, days=9)
        await own_world.driver.record_machine(epoch, names[0], "gone", reason="gone")
        (after,) = await own_world.api.list_pools(own_world.caller, name=own_world.pool)
        assert CHECK not in await own_world.findings()

    assert sum(pool["machines"].values()) == 2
    assert sum(after["machines"].values()) == 1
    assert cost["machine_hours"] == pytest.approx(4, abs=0.01)
    assert cost["cost"] == pytest.approx(12, abs=0.1)
    assert cost["used_cost"] == pytest.approx(3, abs=0.1)


async def test_many_changes_leave_few_rows(own_world: World) -> None:
    async with described(own_world):
        epoch = await own_world.lead()
        name = await add_machine(own_world)
        for _ in range(200):
            await own_world.admin.execute(ADD)
        await own_world.driver.count_machines(epoch, {name: 0.25})
        n_rows = await own_world.admin.fetchval("SELECT count(*) FROM weft.machine_sum")
        (pool,) = await own_world.api.list_pools(own_world.caller, name=own_world.pool)
        assert CHECK not in await own_world.findings()

    assert n_rows == 1
    assert sum(pool["machines"].values()) == 1


async def _count(connection: asyncpg.Connection, machine: str) -> None:
    """Count what a machine cost, and fold, in one transaction."""
    async with connection.transaction():
        await connection.execute(COUNT, machine)
        await connection.execute(FOLD)


async def test_two_folds_at_once_lose_nothing(own_world: World) -> None:
    """The one that waits sees only its own changes, of no machine more or less."""
    async with described(own_world):
        names = [await add_machine(own_world) for _ in range(2)]
        first, second = await own_world.connect(), await own_world.connect()
        async with first.transaction():
            await _count(first, names[0])
            waiting = asyncio.create_task(_count(second, names[1]))
            async with asyncio.timeout(60):
                while not await own_world.admin.fetchval(WAITS, second.get_server_pid()):
                    await asyncio.sleep(0)
        await waiting
        n_rows = await own_world.admin.fetchval("SELECT count(*) FROM weft.machine_sum")
        assert CHECK not in await own_world.findings()

    assert n_rows == 2
