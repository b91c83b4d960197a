"""What the driver reads of a large queue and a long past to decide about few jobs, and what a kept
worker reads to fill its gap.
"""

import pytest

from builders import job_rows
from plans.test_plans import read_by_call
from store.test_queue_limits import rows_of, save
from store.world import Worker, World
from weft.core.pools.keep import Keep
from weft.ports.store import Shape

pytestmark = pytest.mark.slow
N_JOBS = 10_000
TABLES = ("job", "attempt", "ready_job", "runnable", "event", "claim")


async def read_by(
    world: World, role: str, function: str, **arguments: object
) -> tuple[int, dict[str, int]]:
    """Call a function; return its number of rows, and what it read by keys. It scans nothing."""
    await world.admin.execute("ANALYZE weft.job, weft.batch, weft.ready_job, weft.event")
    rows, found = await read_by_call(world, role, TABLES, function, **arguments)
    assert [table for table, one in found.items() if one.scans] == []
    return len(rows), {table: one.rows_by_index for table, one in found.items()}


async def test_jobs_that_waited_long_are_the_first_of_a_queue(own_world: World) -> None:
    await own_world.worker(cpu_m=4000)
    await own_world.submit(job_rows(N_JOBS))
    await own_world.submit(job_rows(N_JOBS, priority=2))
    await own_world.fold()
    n_rows, read = await read_by(
        own_world, "weft_driver", "reserve_rounds", epoch=await own_world.lead(), after_s=0
    )

    assert n_rows == 1
    assert read["job"] + read["ready_job"] < 2000


async def test_a_gap_is_filled_without_a_walk_over_what_may_not(own_world: World) -> None:
    worker = await own_world.worker(cpu_m=4000)
    large = await own_world.submit(job_rows(1, shapes=[Shape(cpu_m=4000)]))
    await own_world.submit(job_rows(N_JOBS, priority=2))
    short = Shape(cpu_m=1000, words=(("timeout_s", "10-10"),))
    await own_world.submit(job_rows(N_JOBS, shapes=[short]))
    await own_world.driver.add_reservations(
        await own_world.lead(), [Keep(worker.id, large, 1, 600.0)]
    )
    found = [
        await read_by(
            own_world, "weft_worker", "claim_reserved", incarnation_id=worker.id,
            budget_cpu_m=3000, budget_memory_mib=10_000, limit_jobs=100,
        )
        for _ in range(2)
    ]  # fmt: skip

    assert [n_rows for n_rows, _ in found] == [1, 3]
    assert all(read["job"] < 500 for _, read in found)


async def test_ends_are_those_of_the_newest_events(own_world: World, worker: Worker) -> None:
    await own_world.submit(N_JOBS)
    for _ in range(20):
        await worker.end(*await worker.claim(N_JOBS // 20))
    n_rows, read = await read_by(
        own_world, "weft_driver", "recent_ends", epoch=await own_world.lead(), window_s=3600.0,
        fast_s=5.0, limit_events=10,
    )  # fmt: skip

    assert n_rows > 0
    assert read["attempt"] <= 10
    assert read["event"] <= 20


async def test_preemption_looks_at_the_head_of_queues_with_a_priority(own_world: World) -> None:
    await save(own_world)
    worker = await own_world.worker(cpu_m=1000)
    await own_world.submit(N_JOBS)
    running = await worker.claim(1)
    await own_world.submit(rows_of(own_world, N_JOBS))
    await own_world.fold()
    n_rows, read = await read_by(
        own_world, "weft_driver", "preemption_rounds", epoch=await own_world.lead()
    )

    assert len(running) == 1
    assert n_rows == 1
    assert read["job"] + read["ready_job"] < 500
