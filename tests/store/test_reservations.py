"""Workers that are kept for large jobs which have waited long."""

from collections.abc import Sequence

import msgspec

from store.test_holds import hold
from store.world import Worker, World
from weft.core.pools.keep import Keep, LongWaiting, Room, keep_workers
from weft.ports.store import Claimed, JobRows, Row, Shape
from weft.store.database import call_on
from weft.testing.builders import job_rows

SMALL, LARGE = Shape(cpu_m=1000), Shape(cpu_m=4000)


def stream(n_jobs: int) -> JobRows:
    """Return small jobs that come before all others."""
    return job_rows(n_jobs, shapes=[SMALL], priority=1)


async def rounds(world: World, *workers: Worker, after_s: float = 0) -> list[Row]:
    """Return what there is to decide about the world's pool."""
    ids = {one.id for one in workers}
    return [
        row
        for row in await world.driver.reserve_rounds(await world.lead(), after_s=after_s)
        if ids & {one["incarnation_id"] for one in row["workers"]}
    ]


async def look(world: World, *workers: Worker) -> Sequence[Keep]:
    """Keep workers as the driver does."""
    kept: list[Keep] = []
    for row in await rounds(world, *workers):
        jobs = msgspec.convert(row["jobs"], list[LongWaiting])
        rooms = msgspec.convert(row["workers"], list[Room])
        kept += keep_workers(jobs, rooms, after_s=0)
    if kept:
        await world.driver.add_reservations(await world.lead(), kept)
    return kept


async def claim_reserved(worker: Worker) -> list[Claimed]:
    return list(await worker.store.claim_reserved(worker.id, 1))


async def test_a_large_job_gets_a_worker_although_others_come_first(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    await world.submit(stream(8))
    running = await worker.claim(3, cpu_m=3000)
    kept = await look(world, worker)
    beat = await worker.beat(*running)
    claimed = await claim_reserved(worker)
    shown = (await world.api.list_workers(world.caller, with_deleted=False, limit=9))[0][
        "kept_for"
    ]
    facts = await world.api.why_job(world.caller, batch, 1)

    assert kept == [(worker.id, batch, 1)]
    assert beat.kept
    assert [(one.batch_id, one.job_id) for one in claimed] == [(batch, 1)]
    assert (shown["batch_id"], shown["job_id"]) == (batch, 1)
    assert facts.kept == "w"
    assert not (await worker.beat(*running, *claimed)).kept
    assert await look(world, worker) == []
    await worker.start(*claimed)
    assert (await world.api.list_workers(world.caller, with_deleted=False, limit=9))[0][
        "kept_for"
    ] is None


async def test_job_of_a_range_is_claimed_whatever_its_number(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    index = [0] * 4 + [1]
    batch = await world.submit(job_rows(5, shapes=[SMALL, LARGE], shape_index=index))
    await world.driver.add_reservations(await world.lead(), [(worker.id, batch, 5)])

    assert [one.job_id for one in await claim_reserved(worker)] == [5]
    assert [one.job_id for one in await worker.claim()] == [1, 2, 3, 4]


async def test_a_held_job_is_not_claimed_and_keeps_no_worker(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    assert await look(world, worker)
    await hold(world, batch)

    assert await claim_reserved(worker) == []
    assert await rounds(world, worker) == []


async def test_a_worker_is_free_again_when_another_one_takes_the_job(world: World) -> None:
    worker, other = await world.worker(cpu_m=4000), await world.worker("other", cpu_m=4000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    ((kept, _, _),) = await look(world, worker, other)
    taker = other if kept == worker.id else worker
    assert [one.batch_id for one in await taker.claim()] == [batch]
    await rounds(world, worker, other)

    assert await world.admin.fetch("SELECT FROM weft.reservation WHERE batch_id = $1", batch) == []


async def test_amounts_that_are_not_free_yet_are_waited_for(world: World) -> None:
    worker = await world.worker(cpu_m=4000, gpu=2)
    await world.submit(job_rows(1, shapes=[Shape(cpu_m=1000, gpu=1)], priority=1))
    running = await worker.claim()
    await world.submit(job_rows(1, shapes=[Shape(cpu_m=4000, gpu=2)]))
    assert await look(world, worker)

    assert await claim_reserved(worker) == []
    assert (await worker.beat(*running)).kept
    await worker.end(*running)
    assert len(await claim_reserved(worker)) == 1


async def test_jobs_that_wait_shortly_or_are_small_keep_nothing(world: World) -> None:
    worker = await world.worker(cpu_m=8000)
    await world.submit(job_rows(1, shapes=[Shape(cpu_m=4000)]))

    assert await look(world, worker) == []
    assert await rounds(world, worker, after_s=60) == []


async def test_a_worker_with_slots_is_never_kept(world: World) -> None:
    worker = await world.worker(cpu_m=4000, slots=2)
    await world.submit(job_rows(1, shapes=[LARGE]))

    assert await look(world, worker) == []


async def test_the_audit_finds_a_worker_that_cannot_hold_its_job(world: World) -> None:
    worker = await world.worker(cpu_m=3000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    await world.driver.add_reservations(await world.lead(), [(worker.id, batch, 1)])
    found = await world.findings()
    await world.admin.execute("DELETE FROM weft.reservation WHERE batch_id = $1", batch)

    assert found.keys() == {"reservations_can_hold"}


async def test_a_kept_worker_leaves_alone_what_another_took_after_its_snapshot(
    world: World,
) -> None:
    """As other claims do: else the report of the other worker waits for its lock."""
    slow, fast = await world.worker("slow", cpu_m=4000), await world.worker("fast", cpu_m=4000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    await world.driver.add_reservations(await world.lead(), [Keep(slow.id, batch, 1)])
    connection = await world.connect("weft_worker")
    async with connection.transaction(isolation="repeatable_read"):
        await connection.fetchval("SELECT 1")
        assert len(await fast.claim(1)) == 1
        assert await call_on(connection, "claim_reserved", incarnation_id=slow.id) == []
