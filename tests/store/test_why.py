"""Facts that `why` and forecasts are told of jobs, groups and pools that grow."""

from datetime import timedelta

import msgspec

from builders import job_rows
from store.pool_rows import SMALL, described, others
from store.site import TREE, Site
from store.world import World
from weft.core.pools import Flavour, Pool, offers_of
from weft.core.states import Reason
from weft.core.why.facts import GrowthFacts
from weft.ports.store import Shape


async def test_facts_of_a_job_that_waits(site: Site) -> None:
    """For a worker, its parent, or a hold."""
    api, caller = site.api, site.caller
    batch = await site.submit(job_rows(2, parents={2: [1]}))
    first = await api.why_job(caller, batch, 1)
    assert first.pool is not None
    assert (first.state, first.pool.pool, first.pool.workers) == ("ready", site.pool, 0)
    await site.worker()
    child = await api.why_job(caller, batch, 2)
    assert [(one.job_id, one.state) for one in child.parents] == [(1, "ready")]
    assert child.pool is not None
    assert (child.pool.active, child.pool.free) == (1, True)
    await api.hold_group(caller, batch, 0)
    await api.hold_jobs(caller, batch, [1])
    assert (await api.why_job(caller, batch, 1)).held == ("/", "")
    both = await api.why_jobs(caller, batch, [2, 1, 7])
    assert [(one.job_id, one.held) for one in both] == [(1, ("/", "")), (2, ("/",))]


async def test_facts_of_a_group_name_jobs_that_stand_for_the_others(site: Site) -> None:
    """One that is ready, and one that failed; only of this group."""
    api, caller = site.api, site.caller
    batch = await site.submit(job_rows(4, group=[0, 1, 1, 3]), groups=TREE)
    one, two = sorted(await site.claim(2), key=lambda job: job.job_id)
    await site.end(one, two, reason=Reason.EXIT)
    for group, ready, failed in ((0, 3, 1), ("/a", 3, 2), ("c", 4, None)):
        facts = await api.why_group(caller, batch, group)
        assert [job.job_id for job in facts.ready] == [ready]
        assert (facts.failed and facts.failed.job_id) == failed
    facts = await api.why_group(caller, batch, "c")
    assert (facts.name, facts.n_jobs) == (f"b{batch}/c", 1)
    assert (await api.why_group(caller, batch, 1)).n_failed == 1


async def growth(world: World, batch: int) -> GrowthFacts | None:
    """Return what is told of the first job of a batch."""
    facts = await world.api.why_job(world.caller, batch, 1)
    assert facts.pool is not None
    return facts.pool.growth


async def machine(world: World) -> str:
    """Note a machine that is about to be made; return its name."""
    pool_id = await world.admin.fetchval(
        "SELECT pool_id FROM weft.pool WHERE name = $1", world.pool
    )
    (name,) = await world.driver.add_machines(await world.lead(), pool_id, [("small", "", "x")])
    return name


async def test_the_time_that_machines_take_is_known_when_one_has_come(world: World) -> None:
    batch = await world.submit()
    async with described(world):
        before = await growth(world, batch)
        first = await machine(world)
        unknown = await growth(world, batch)
        await world.worker(first)
        registered = await growth(world, batch)
        await world.driver.pool_rounds(await world.lead(), limit_jobs=10)
        came = await growth(world, batch)
        await world.admin.execute(
            "UPDATE weft.machine SET created_at = came_at - interval '40 s' WHERE name = $1", first
        )
        second = await machine(world)
        known = await growth(world, batch)
        await world.driver.record_machine(await world.lead(), second, "fail", reason="no quota")
        await world.driver.move_machine(await world.lead(), second, "delete", "why")
        failed = await growth(world, batch)
        await world.driver.record_machine(await world.lead(), second, "gone", reason="why")
        problem = await growth(world, batch)

    assert before == GrowthFacts(0, 2, has_room=True)
    assert unknown is not None
    assert unknown.coming is not None
    assert (unknown.coming.machine, unknown.coming.usual_s) == (first, None)
    assert came == registered == GrowthFacts(1, 2, has_room=True)
    assert known is not None
    assert known.coming is not None
    assert (known.coming.machine, known.coming.usual_s) == (second, 40)
    assert failed == GrowthFacts(2, 2, problem="no quota")
    assert problem == GrowthFacts(1, 2, has_room=True, problem="no quota")


async def test_the_memory_of_a_large_job_is_told(world: World) -> None:
    batch = await world.submit(job_rows(1, shapes=[Shape(memory_mib=2**20)]))
    facts = await world.api.why_job(world.caller, batch, 1)

    assert facts.memory == 2**40


async def test_a_machine_that_comes_back_keeps_the_time_at_which_it_came(world: World) -> None:
    async with described(world):
        name = await machine(world)
        await world.worker(name)
        times = []
        for _ in range(2):
            await world.driver.pool_rounds(await world.lead(), limit_jobs=10)
            row = await world.admin.fetchrow("SELECT * FROM weft.machine WHERE name = $1", name)
            times.append((row["came_at"], row["created_at"]))
            await world.driver.move_machine(await world.lead(), name, "cordon", "idle")
            await world.api.uncordon_worker(world.caller, name, world.pool)

    ((came_at, created_at),) = set(times)
    assert timedelta() <= came_at - created_at < timedelta(minutes=5)


async def test_only_what_its_flavours_hold_lets_a_pool_grow(world: World) -> None:
    """By size, labels and regions, and within its quota."""
    await world.worker(region=["eu"], rack=["12"])  # so that jobs may ask for them
    asked = [
        Shape(cpu_m=2000),
        Shape(memory_mib=2048),
        Shape(words=(("rack", "12"),)),
        Shape(words=(("region", "us"),)),
        Shape(words=(("region", ("us", "eu")),)),
    ]
    batches = [await world.submit(job_rows(1, shapes=[one])) for one in asked]
    async with described(world):
        rest = await others(world)
        flavour = msgspec.structs.replace(SMALL, labels={"zone": "b"})
        pool = Pool(
            name=world.pool,
            provider="none",
            max_workers=2,
            regions=("eu",),
            quota_cpu_m=1500,
            quota_share=0.5,
            flavours=(flavour, Flavour(name="s", cpu_m=900, memory_mib=9)),
        )
        await world.api.save_pools(world.caller, [*rest, pool])
        found = [await growth(world, batch) for batch in batches]

    assert found == [None, None, None, None, GrowthFacts(0, 2)]


async def test_a_machine_offers_the_same_to_admission_and_to_growth(world: World) -> None:
    """Before it is there: what the api and claims read is what the driver plans with."""
    flavours = [
        SMALL,
        Flavour(
            name="rich",
            cpu_m=1,
            memory_mib=1,
            storage_mib=2,
            gpus=3,
            countables={"matlab": 4},
            labels={"zone": "b"},
            containers=True,
            preemptible=True,
            walltime_s=9000,
        ),
    ]
    async with described(world):
        for regions in ((), ("eu",)):
            pool = Pool(name=world.pool, max_workers=2, regions=regions, flavours=tuple(flavours))
            await world.api.save_pools(world.caller, [*await others(world), pool])
            rows = await world.admin.fetch(
                "SELECT f.flavour, f.offers FROM weft.pool p, weft._flavours(p) f "
                "WHERE p.name = $1 AND NOT f.offers ? 'machine'",
                world.pool,
            )
            assert dict(rows) == {
                one.name: offers_of(world.pool, one, "".join(regions)) for one in flavours
            }


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
