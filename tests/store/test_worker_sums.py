"""Sums of workers by pool, which a page shows of a fleet."""

import pytest

from store.world import World

pytestmark = pytest.mark.slow
CHECK = "workers_are_counted"


async def together(world: World) -> tuple[int, float]:
    """Return how many workers live, and their cores."""
    found = await world.api.sum_workers(world.caller, limit=9)
    return found["n_workers"], found["cpu"]


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
    assert CHECK not in await own_world.findings()


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
    assert CHECK not in await own_world.findings()


async def test_many_begins_leave_few_rows(own_world: World) -> None:
    await own_world.worker("a", cpu_m=1000)
    await own_world.admin.execute(
        "INSERT INTO weft.worker_sum SELECT pool_id, 0, 0, 0 FROM weft.worker_sum, "
        "generate_series(1, 200)"
    )
    await own_world.worker("b", cpu_m=1000)

    assert await own_world.admin.fetchval("SELECT count(*) FROM weft.worker_sum") == 2
    assert await together(own_world) == (2, 2)


async def test_slots_of_simulations_are_no_cores(own_world: World) -> None:
    """Such a worker is no machine."""
    await own_world.worker("a", cpu_m=4000)
    slots = await own_world.worker("b", cpu_m=9000, executor=["simulation"])
    assert await together(own_world) == (1, 4)
    assert CHECK not in await own_world.findings()
    await slots.store.leave(slots.id)

    assert await together(own_world) == (1, 4)
