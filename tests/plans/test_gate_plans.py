"""What admission at a gate reads."""

from collections.abc import Sequence

import pytest

from builders import end_report, job_rows, with_fields
from plans.table_reads import N_JOBS, read_by_call
from store.world import Worker, World
from weft.core.queues import Queue
from weft.ports.store import Claimed, Shape
from weft.store.end_columns import end_columns

pytestmark = [pytest.mark.slow, pytest.mark.heavy]


async def turns(worker: Worker, count: int) -> list[Claimed]:
    """Claim and end, some times; return the last claim."""
    claimed = await worker.claim()
    for _ in range(count):
        await worker.end(*claimed)
        claimed = await worker.claim()
    return claimed


async def check_ends(world: World, worker: Worker, claimed: list[Claimed], **most: int) -> None:
    """Report the ends of these, which reads fewer rows of these tables, all by their indices."""
    columns = end_columns([end_report(one) for one in claimed])
    _, found = await read_by_call(
        world,
        "weft_worker",
        ["job", "ready_job", "runnable", "place", "gate"],
        "complete_attempts",
        incarnation_id=worker.id,
        **columns,
    )
    assert [table for table, read in found.items() if read.scans] == []
    assert {table for table, n in most.items() if found[table].rows_by_index >= n} == set()


async def test_admission_reads_the_jobs_that_it_admits(own_world: World, worker: Worker) -> None:
    """However many wait behind the gate, and however many have passed it; the driver is away."""
    await own_world.submit(N_JOBS, max_running=20)
    claimed = await turns(worker, 60)

    assert len(claimed) == 20
    await check_ends(own_world, worker, claimed, job=400, ready_job=200, place=200)


async def reads_what_it_admits(world: World, shapes: Sequence[Shape]) -> None:
    """Let six users submit 2,000 jobs each, of which 20 run, and end these."""
    others = [await world.user(f"user{n}") for n in range(5)]
    for caller in (world.caller, *others):
        await world.submit(job_rows(2_000, shapes=shapes), caller=caller)
    worker = await world.worker()
    claimed = await turns(worker, 20)

    assert len(claimed) == 20
    await check_ends(world, worker, claimed, job=600, ready_job=400, place=300)


async def test_limits_of_queues_read_the_jobs_that_they_admit(own_world: World) -> None:
    """However many users and jobs wait behind them. A submission reads the queues by name."""
    queues = [Queue(name=f"q{n}", priority=n, pools=(own_world.pool,)) for n in range(2, 4)]
    limited = Queue(
        name="q1",
        priority=1,
        pools=(own_world.pool,),
        max_running=20,
        max_running_per_user=15,
        max_waiting=10**6,
    )
    await own_world.api.save_queues(own_world.caller, [limited, *queues])
    shapes = [Shape(words=(("pool", own_world.pool), ("queue", "q1")))]
    await reads_what_it_admits(own_world, shapes)


async def test_quotas_of_cores_read_the_jobs_that_they_admit(own_world: World) -> None:
    """However many users and jobs wait behind them, and however many notes were taken before."""
    await own_world.api.set_tenant_quota(own_world.caller, own_world.pool, {"cores": 20})
    await own_world.api.set_quota(own_world.caller, None, {"cores": 15})
    shapes = [Shape(words=(("pool", own_world.pool),))]
    await reads_what_it_admits(own_world, shapes)


@pytest.mark.parametrize("waiting", [4, 40])
async def test_admission_by_keys_reads_the_jobs_that_it_admits(
    own_world: World, waiting: int
) -> None:
    """Of a hundred keys, however many jobs wait for each."""
    gates = [[{"kind": "concurrency_key", "key": f"k{n}", "max_places": 1}] for n in range(100)]
    fields = {f"j{n + 1}": {"gates": gates[n % 100]} for n in range(100 * waiting)}
    await own_world.submit(with_fields(job_rows(100 * waiting), **fields))
    worker = await own_world.worker()
    claimed = await turns(worker, 2)

    assert len(claimed) == 100
    await check_ends(own_world, worker, claimed, job=800, ready_job=800, place=200)
