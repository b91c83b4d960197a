"""A project just below its limit asks for very many jobs: only those start that fit."""

from store.test_admissions import OURS, TICK_S, look
from store.test_spending import project
from store.world import World
from weft.core.billing.spending import Measure, Stage, room_per_hour

N_JOBS = 300
FEW = 20


async def test_jobs_that_do_not_fit_below_the_limit_do_not_start(world: World) -> None:
    """All of them would be below it now, but not until the next tick."""
    await world.submit()
    worker = await world.worker(cpu_m=1000 * N_JOBS, memory_mib=1024 * N_JOBS)
    (one,) = await worker.claim_and_start()
    patch = {"amount_max": FEW + 0.5}
    await world.api.set_limit(world.caller, OURS, Measure.CPU, patch)
    await look(world)
    batch = await world.submit(N_JOBS)
    started = await worker.claim(N_JOBS)
    await look(world)
    started += await worker.claim(N_JOBS)
    later = await world.submit(N_JOBS)
    await look(world)
    started += await worker.claim(N_JOBS)

    assert len(started) == FEW - 1
    assert (await project(world))["limit_state"] == "below"  # that in money
    await worker.start(*started)
    epoch = await world.lead()
    found = [x for x in await world.driver.limit_rounds(epoch) if x.tenant == world.pool]
    assert room_per_hour(found[0].spending, lookahead_s=TICK_S) > 0
    assert found[0].spending.stage is Stage.BELOW
    assert {state for one in (batch, later) for state in await world.states(one)} == {"R", "r"}
    await worker.end(one, *started)
