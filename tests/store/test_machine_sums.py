"""Sums of machines and workers by pool, which pages show: how many there are, and what machines
cost until now. And the audit finds each sum that is changed, also of others.
"""

import asyncio

import asyncpg
import pytest

from store.pool_rows import add_machine, described
from store.test_pool_costs import age, set_price
from store.world import World

CHECK, CHECK_OF_WORKERS = "machines_are_counted", "workers_are_counted"
ADD = (
    "INSERT INTO weft.machine_sum SELECT pool_id, flavour, state, 0, 0, 0, 0, 0, 0, 0, 0 "
    "FROM weft.machine_sum LIMIT 1"
)

COUNT = "UPDATE weft.machine SET costs_from = clock_timestamp() WHERE name = $1"
FOLD = "SELECT weft._fold_machine_sums(1)"
WAITS = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'"
WRONG = {
    "loads_of_pools_are_counted": (
        "UPDATE weft.pool_load SET running_m = running_m + 1",
        "DELETE FROM weft.pool_load",
    ),
    "machines_are_counted": (
        "UPDATE weft.machine_sum SET n = n + 1",
        "UPDATE weft.machine_sum SET price_from = price_from + 1",
    ),
    "stored_bytes_are_counted": (
        "UPDATE weft.batch_storage SET n_bytes = n_bytes + 1",
        "UPDATE weft.user_storage SET n_bytes = n_bytes + 1 WHERE user_id = 0",
    ),
    "usage_by_resource_equals_usage": (
        "TRUNCATE weft.usage_sum",
        "UPDATE weft.usage_sum SET cpu = cpu - 1 WHERE project_id = 0 AND user_id = 0",
        "UPDATE weft.usage_sum SET memory = 0 WHERE project_id > 0 AND user_id > 0",
    ),
    "users_are_counted": (
        "UPDATE weft.user_count SET n_ready = n_ready + 1",
        "INSERT INTO weft.user_count VALUES (1, 9, 9, 1, 0, 0, 0, 0, 0)",
        "UPDATE weft.user_count SET n_ready = 1 WHERE user_id = 0 AND project_id = 0",
        "DELETE FROM weft.user_count",
    ),
    "workers_are_counted": (
        "UPDATE weft.worker_sum SET n_workers = n_workers + 1",
        "UPDATE weft.worker_sum SET cpu_m = cpu_m + 1",
        "UPDATE weft.worker_sum SET memory_mib = memory_mib + 1",
        "DELETE FROM weft.worker_sum",
    ),
}


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


async def test_each_wrong_sum_is_found(own_world: World) -> None:
    async with described(own_world):
        await add_machine(own_world)
        _, worker, (ended, _) = await own_world.submit_and_claim(5, limit=2)
        await worker.end(ended, start_age_us=1_000_000)
        await own_world.fold()
        assert WRONG.keys().isdisjoint(await own_world.findings())
        for check, changes in WRONG.items():
            for change in changes:
                assert {*await own_world.findings_after(change)} == {check}, change


async def together(world: World) -> tuple[int, float]:
    """Return how many workers live, and their cores."""
    found = await world.api.sum_workers(world.caller, limit=9)
    return found["n_workers"], found["cpu"]


@pytest.mark.slow
async def test_workers_count_while_they_live(own_world: World) -> None:
    """One that is started again counts once, with what it has now."""
    first, _ = await own_world.worker("a", cpu_m=4000), await own_world.worker("b", cpu_m=8000)
    assert await together(own_world) == (2, 12)
    await first.store.leave(first.id)
    assert await together(own_world) == (1, 8)
    again = await own_world.worker("a", cpu_m=2000)
    await again.beat()
    await again.store.leave(again.id)
    await again.store.leave(again.id)

    assert await together(own_world) == (1, 8)
    assert CHECK_OF_WORKERS not in await own_world.findings()


@pytest.mark.slow
async def test_sums_are_exact_while_they_are_folded(own_world: World) -> None:
    """What others have not committed yet is neither lost nor counted twice."""
    workers = [await own_world.worker(name, cpu_m=1000) for name in "abc"]
    async with own_world.transaction() as ending:
        await ending.execute("SELECT weft.leave($1)", workers[0].id)
        await own_world.admin.execute("SELECT weft._fold_worker_sums(1)")
        assert await together(own_world) == (3, 3)
    assert await together(own_world) == (2, 2)
    await own_world.admin.execute("SELECT weft._fold_worker_sums(1)")
    rows = await own_world.admin.fetchval("SELECT count(*) FROM weft.worker_sum")

    assert (rows, await together(own_world)) == (1, (2, 2))
    assert CHECK_OF_WORKERS not in await own_world.findings()


@pytest.mark.slow
async def test_many_begins_leave_few_rows(own_world: World) -> None:
    await own_world.worker("a", cpu_m=1000)
    await own_world.admin.execute(
        "INSERT INTO weft.worker_sum SELECT pool_id, 0, 0, 0 FROM weft.worker_sum, "
        "generate_series(1, 200)"
    )
    await own_world.worker("b", cpu_m=1000)

    assert await own_world.admin.fetchval("SELECT count(*) FROM weft.worker_sum") == 2
    assert await together(own_world) == (2, 2)


@pytest.mark.slow
async def test_slots_of_simulations_are_no_cores(own_world: World) -> None:
    """Such a worker is no machine."""
    await own_world.worker("a", cpu_m=4000)
    slots = await own_world.worker("b", cpu_m=9000, executor=["simulation"])
    assert await together(own_world) == (1, 4)
    assert CHECK_OF_WORKERS not in await own_world.findings()
    await slots.store.leave(slots.id)

    assert await together(own_world) == (1, 4)
