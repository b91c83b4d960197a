"""Workers that are kept for large jobs which have waited long."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
import pytest
import pytest_asyncio

from builders import job_rows, with_fields
from store.barriers import hold, visit
from store.retries import fail, release, waiting
from store.world import MUCH_CPU_M, MUCH_MEMORY_MIB, Worker, World
from weft.core.pools.keep import Keep, LongWaiting, Room, fill_gaps, keep_workers
from weft.core.scheduling.time_limits import limit_class
from weft.core.states import Reason
from weft.ports.store import Claimed, JobRows, Row, Shape
from weft.store.database import call_on

SMALL, LARGE = Shape(cpu_m=1000), Shape(cpu_m=4000)


@pytest_asyncio.fixture(loop_scope="session")
async def worker(world: World) -> Worker:
    """Give a worker of four cores."""
    return await world.worker(cpu_m=4000)


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
        kept += keep_workers(jobs, rooms, after_s=0) + fill_gaps(rooms)
    if kept:
        await world.driver.add_reservations(await world.lead(), kept)
    return kept


def limited(timeout_s: float | None, cpu_m: int = 1000) -> JobRows:
    """Return a job with a time limit, as the api writes it."""
    name = limit_class(timeout_s)
    return job_rows(
        1, shapes=[Shape(cpu_m=cpu_m, words=(("timeout_s", name),) if name else ())], priority=1
    )


async def fill_until(world: World, worker: Worker) -> datetime | None:
    """Return until when others may run there."""
    found: datetime | None = await world.admin.fetchval(
        "SELECT fill_until FROM weft.reservation WHERE incarnation_id = $1", worker.id
    )
    return found


async def keep_behind(world: World, worker: Worker, timeout_s: float | None) -> list[Claimed]:
    """Let a worker claim the job of all its cores that it is kept for while one with a limit runs;
    return what runs.
    """
    await world.submit(limited(timeout_s, cpu_m=3000))
    running = await worker.claim_and_start()
    await world.submit(job_rows(1, shapes=[LARGE]))
    assert await look(world, worker)
    assert [one.cpu_m for one in await worker.claim_kept()] == [LARGE.cpu_m]
    return running


async def test_a_large_job_gets_a_worker_although_others_come_first(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    await world.submit(stream(8))
    running = await worker.claim(3, cpu_m=3000)
    kept = await look(world, worker)
    beat = await worker.beat(*running)
    claimed = await worker.claim_kept()
    shown = (await world.api.list_workers(world.caller, with_deleted=False, limit=9))[0][
        "kept_for"
    ]
    facts = await world.api.why_job(world.caller, batch, 1)

    assert kept == [(worker.id, batch, 1, None)]
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


async def test_job_of_a_range_is_claimed_whatever_its_number(world: World, worker: Worker) -> None:
    index = [0] * 4 + [1]
    batch = await world.submit(job_rows(5, shapes=[SMALL, LARGE], shape_index=index))
    await world.driver.add_reservations(await world.lead(), [Keep(worker.id, batch, 5)])

    assert (await worker.beat()).kept
    assert [one.job_id for one in await worker.claim_kept()] == [5]
    assert [one.job_id for one in await worker.claim()] == [1, 2, 3, 4]


async def test_worker_that_tries_one_job_is_kept_for_no_other(world: World) -> None:
    worker, other = await world.worker(cpu_m=4000), await world.worker("other", cpu_m=2000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    await look(world, worker)
    await world.admin.execute(
        "UPDATE weft.worker_incarnation SET trying = true WHERE incarnation_id = $1", worker.id
    )

    assert await worker.claim_kept() == []
    assert [
        one["incarnation_id"] for row in await rounds(world, other) for one in row["workers"]
    ] == [other.id]
    assert await world.states(batch) == "r"


async def test_a_held_job_is_not_claimed_and_keeps_no_worker(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    assert await look(world, worker)
    await hold(world, batch)

    assert await worker.claim_kept() == []
    assert await rounds(world, worker) == []


async def test_a_worker_is_free_again_when_another_one_takes_the_job(world: World) -> None:
    worker, other = await world.worker(cpu_m=4000), await world.worker("other", cpu_m=4000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    ((kept, *_),) = await look(world, worker, other)
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

    assert await worker.claim_kept() == []
    assert (await worker.beat(*running)).kept
    await worker.end(*running)
    assert len(await worker.claim_kept()) == 1


async def test_jobs_that_wait_shortly_or_are_small_keep_nothing(world: World) -> None:
    worker = await world.worker(cpu_m=8000)
    await world.submit(job_rows(1, shapes=[Shape(cpu_m=4000)]))

    assert await look(world, worker) == []
    assert await rounds(world, worker, after_s=60) == []


@pytest.mark.parametrize(("started", "waits_s"), [(True, 0), (False, 3600)])
async def test_a_job_that_has_run_waits_since_then(
    world: World, *, started: bool, waits_s: int
) -> None:
    """One that was only handed back has waited all the time."""
    worker = await world.worker(cpu_m=4000)
    batch = await world.submit(job_rows(1, shapes=[LARGE], max_attempts=3))
    await world.age("batch_update", "committed_at", by_s=3600, batch_id=batch)
    claimed = await worker.claim()
    if started:
        await worker.start(*claimed)
        await worker.end(*claimed, reason=Reason.LOST)
    else:
        await worker.end(*claimed, reason=Reason.PREEMPTED, start_age_us=None)
    (found,) = [job for row in await rounds(world, worker) for job in row["jobs"]]

    assert await world.states(batch) == "r"
    assert found["waited_s"] // 3600 * 3600 == waits_s


async def test_a_job_that_was_blocked_waits_since_it_is_not(world: World, worker: Worker) -> None:
    rows = job_rows(1, shapes=[LARGE], max_attempts=3, retry_on=[Reason.EXIT])
    batch = await world.submit(waiting(rows, 1))
    await fail(worker, *await worker.claim())
    await release(world, in_s=61)
    found = [job for row in await rounds(world, worker) for job in row["jobs"]]

    assert await world.states(batch) == "r"
    assert found == [], "not before a minute has passed"


async def test_a_worker_with_slots_is_never_kept(world: World) -> None:
    worker = await world.worker(cpu_m=4000, slots=2)
    await world.submit(job_rows(1, shapes=[LARGE]))

    assert await look(world, worker) == []


async def test_the_audit_finds_a_worker_that_cannot_hold_its_job(world: World) -> None:
    worker = await world.worker(cpu_m=3000)
    batch = await world.submit(job_rows(1, shapes=[LARGE]))
    await world.driver.add_reservations(await world.lead(), [Keep(worker.id, batch, 1)])
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
        found = await call_on(
            connection,
            "claim_reserved",
            incarnation_id=slow.id,
            budget_cpu_m=MUCH_CPU_M,
            budget_memory_mib=MUCH_MEMORY_MIB,
            limit_jobs=1,
        )
        assert found == []


async def test_short_jobs_run_until_there_may_be_room_for_the_large_one(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    await keep_behind(world, worker, 3600)
    batches = [await world.submit(limited(one)) for one in (None, 3601, 3600, 86_401, 600)]
    filling = await worker.claim_kept(cpu_m=1000)
    waiting = [await world.states(one) for one in batches]
    nothing = await worker.claim_kept(cpu_m=0)

    assert waiting == ["r", "r", "r", "r", "R"]
    assert [one.batch_id for one in filling] == batches[-1:]
    assert nothing == []


async def test_what_fills_the_gap_counts_as_a_start_at_its_rate(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    await keep_behind(world, worker, 3600)
    rate = {"kind": "rate", "key": "gap/60000ms", "max_places": 1}
    for _ in range(2):
        await world.submit(with_fields(limited(600), j1={"gates": [rate]}))
    filling = await worker.claim_kept(cpu_m=1000)
    await worker.end(*filling)
    await visit(world, in_s=59)

    assert len(filling) == 1
    assert await worker.claim_kept(cpu_m=1000) == []


async def test_what_fills_the_gap_ends_before_the_date_that_was_promised(world: World) -> None:
    """However often the driver looks and the worker claims: so the large job starts in time."""
    worker = await world.worker(cpu_m=4000)
    running = await keep_behind(world, worker, 3600)
    promised = await fill_until(world, worker)
    assert promised is not None
    for _ in range(3):
        await world.submit(limited(900))
        filling = await worker.claim_kept(cpu_m=1000)
        await worker.start(*filling)
        await look(world, worker)
        until = await fill_until(world, worker)
        assert until is not None
        assert until <= promised
        assert await world.admin.fetchval(
            "SELECT max(j.started_at + t.at_most_s * interval '1 second') <= $2"
            " FROM weft._live_attempts($1) j JOIN weft.lane l USING (lane_id),"
            " weft._limit_range(l.asks) t WHERE l.asks ->> 'timeout_s' = '900-900'",
            worker.id,
            promised,
        )
        await worker.end(*filling)

    await worker.end(*running)


async def test_a_job_that_would_end_too_late_does_not_fill_the_gap(world: World) -> None:
    worker = await world.worker(cpu_m=4000)
    await keep_behind(world, worker, 3600)
    await world.submit(limited(900))
    promised = await fill_until(world, worker)
    assert promised is not None
    found = [
        await world.call(
            "claim_reserved",
            incarnation_id=worker.id,
            budget_cpu_m=1000,
            budget_memory_mib=MUCH_MEMORY_MIB,
            limit_jobs=9,
            at=promised - timedelta(seconds=left),
        )
        for left in (899, 901)
    ]

    assert [len(one) for one in found] == [0, 1]


async def test_nothing_fills_a_gap_of_unknown_length(world: World, worker: Worker) -> None:
    await keep_behind(world, worker, None)
    await world.submit(limited(10))

    assert await fill_until(world, worker) is None
    assert await worker.claim_kept(cpu_m=1000) == []


async def test_a_gap_is_filled_from_when_its_length_is_known(world: World, worker: Worker) -> None:
    await world.submit(limited(3600, cpu_m=3000))
    running = await worker.claim()
    await world.submit(job_rows(1, shapes=[LARGE]))
    await look(world, worker)
    (large,) = await worker.claim_kept()
    before = await fill_until(world, worker)
    await worker.start(*running)
    await look(world, worker)
    known = await fill_until(world, worker)
    await worker.end(*running)
    await worker.start(large)
    await world.submit(limited(10))

    assert before is None
    assert known is not None
    assert await worker.claim_kept(cpu_m=1000) == []


async def test_a_job_larger_than_the_gap_does_not_fill_it(world: World, worker: Worker) -> None:
    await keep_behind(world, worker, 3600)
    await world.submit(limited(10, cpu_m=2000))

    assert await worker.claim_kept(cpu_m=1000) == []
