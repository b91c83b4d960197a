"""A project below its limit starts very many jobs between two looks: that costs a tick at most."""

from store.test_spending import TICK_S, limit, look, project, stop
from store.world import World
from weft.core.spending import Stage

N_JOBS = 300
FEW = 20


async def test_jobs_that_start_in_one_tick_stop_at_the_next_look(world: World) -> None:
    """One would be below the limit for long, all of them not until the next tick."""
    alone = await world.submit()
    worker = await world.worker()
    (one,) = await worker.claim()
    await worker.start(one)
    await limit(world, 1000.0)
    of_one = (await project(world))["cost_per_hour"] / 3600 * TICK_S
    await worker.end(one)
    await world.fold()
    cost_max = float((await project(world))["cost"]) + FEW * of_one
    batch = await world.submit(N_JOBS)
    await limit(world, cost_max)
    before = (await project(world))["limit_state"]
    claimed = await worker.claim(N_JOBS)
    await worker.start(*claimed)
    stages = await look(world)
    later = await world.submit(N_JOBS)
    started_later = await worker.claim(N_JOBS)
    await stop(worker, *claimed)
    await world.fold()
    cost = float((await project(world))["cost"])

    assert (before, len(claimed)) == ("below", N_JOBS)
    assert stages == [Stage.REACHED]
    assert started_later == []
    assert await worker.claim(N_JOBS) == []
    assert cost <= cost_max + N_JOBS * of_one
    states = [await world.states(one) for one in (alone, batch, later)]
    assert states == ["s", "r" * N_JOBS, "r" * N_JOBS]
    assert await world.findings() == {}
