"""Jobs of several regions in one large batch: the driver makes machines where some can be made,
and workers there take what the driver had in mind, however the jobs are ordered.
"""

import msgspec
import pytest

from builders import job_rows
from store.test_pools import others
from store.world import World
from weft.core.pools import Demand, Flavour, Pool, decide
from weft.ports.store import Row, Shape

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
        (await world.admin.fetchval(
            "SELECT l.asks ->> 'region' FROM weft.job j JOIN weft.lane l USING (lane_id) "
            "WHERE j.batch_id = $1 AND j.job_id = $2", one.batch_id, one.job_id))
        for one in claimed
    ]  # fmt: skip
    await worker.end(*claimed)
    await world.api.save_pools(world.caller, await others(world))

    assert {one.asks["region"]: one.n_jobs for one in demand} == {"a": 10, "b": 10}
    assert {one.region for one in (new, *more)} == {"b"}
    assert regions == ["b"]
    assert batch == claimed[0].batch_id
