"""What the driver reads when it looks at a pool."""

import pytest

from builders import job_rows
from plans.test_plans import read_by_call
from store.world import World
from weft.core.pools import Flavour, Pool
from weft.ports.store import Shape

pytestmark = pytest.mark.slow
TABLES = ("job", "ready_job", "runnable", "attempt", "lane", "machine")


async def test_a_look_reads_a_bounded_head_of_the_queue(own_world: World) -> None:
    """However many jobs wait."""
    flavour = Flavour(name="f", cpu_m=1000, memory_mib=512)
    pool = Pool(name=own_world.pool, provider="process", max_workers=1, flavours=(flavour,))
    await own_world.api.save_pools(own_world.caller, [pool])
    for count in (5_000, 50):
        await own_world.submit(count)
        own = Shape(words=(("machine", "f"),))
        await own_world.submit(job_rows(count, shapes=[own]))
    epoch = await own_world.lead()
    (row,), found = await read_by_call(
        own_world, "weft_driver", TABLES, "pool_rounds", epoch=epoch, limit_jobs=100
    )
    await own_world.api.save_pools(own_world.caller, [])
    jobs = sum(one["n_jobs"] for one in row[0]["demand"])

    assert jobs == 100
    assert len(row[0]["own_jobs"]) == pool.creates_per_round
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 500
