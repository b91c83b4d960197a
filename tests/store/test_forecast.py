"""What the store knows for a forecast."""

from builders import job_rows
from store.world import World


async def test_facts_of_a_batch_and_its_jobs(world: World) -> None:
    """Like batches, then its own jobs; what is before it and beside it; what runs."""
    api, caller = world.api, world.caller
    assert await api.forecast_facts(caller, await world.submit(0), 0) is None
    worker = await world.worker(cpu_m=2000)
    like = await world.submit(job_rows(6))
    await worker.run(6)
    await world.submit(job_rows(4))
    await worker.claim_and_start(1)
    batch = await world.submit(job_rows(20))
    await world.submit(job_rows(5), caller=await world.user("bob"))
    await world.fold()
    facts = await api.forecast_facts(caller, batch, 0)
    assert facts is not None
    assert (facts.n_waiting, facts.n_running, facts.own) == (20, 0, [])
    assert [len(seconds) for seconds in facts.like] == [6]
    assert (facts.before, facts.others_m, facts.others) == (3, 5000, 1)
    late, ended = [await api.forecast_facts(caller, *of) for of in ((batch, 15), (like, 0))]
    assert late is not None and ended is not None  # noqa: PT018
    assert (late.before, late.n_waiting, len(ended.own)) == (17, 1, 6)
    running = await api.forecast_facts(caller, batch - 1, 0)
    assert running is not None
    assert (len(running.running), running.n_running, running.n_waiting) == (1, 1, 3)
