"""What the driver reads to decide about few jobs, and what a step of it reads."""

from datetime import UTC, datetime, timedelta

import pytest

from builders import array_rows, job_rows
from plans.table_reads import Reads, read_by_call, reads
from store.test_deadlines import due
from store.test_monitor import watched
from store.test_queue_limits import rows_of, save
from store.test_transports import open_rabbit
from store.world import Worker, World
from weft.core.pools import Flavour, Pool
from weft.core.pools.keep import Keep
from weft.ports.store import Shape
from weft.store.database import call_on

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
            own_world,
            "weft_worker",
            "claim_reserved",
            incarnation_id=worker.id,
            budget_cpu_m=3000,
            budget_memory_mib=10_000,
            limit_jobs=100,
        )
        for _ in range(2)
    ]

    assert [n_rows for n_rows, _ in found] == [1, 3]
    assert all(read["job"] < 500 for _, read in found)


async def test_ends_are_those_of_the_newest_events(own_world: World, worker: Worker) -> None:
    await own_world.submit(N_JOBS)
    for _ in range(20):
        await worker.end(*await worker.claim(N_JOBS // 20))
    n_rows, read = await read_by(
        own_world,
        "weft_driver",
        "recent_ends",
        epoch=await own_world.lead(),
        window_s=3600.0,
        fast_s=5.0,
        limit_events=10,
    )

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


DEADLINE_TABLES = ("job", "job_deadline", "late_job", "ready_job")


async def read_by_a_step(world: World) -> dict[str, Reads]:
    """Let the driver look at 100 jobs, an hour later; return what that read."""
    (row,), found = await read_by_call(
        world,
        "weft_driver",
        DEADLINE_TABLES,
        "sweep_deadlines",
        epoch=await world.lead(),
        limit_jobs=100,
        at=datetime.now(UTC) + timedelta(hours=1),
    )
    assert row["sweep_deadlines"] == 100
    return found


async def check_that_a_step_reads_little(world: World) -> None:
    found = await read_by_a_step(world)
    assert [table for table, read in found.items() if read.scans] == []
    assert max(found["job"].rows_by_index, found["job_deadline"].rows_by_index) < 500


async def test_step_reads_the_deadlines_that_are_due(own_world: World) -> None:
    """However many jobs wait for a later one, have none, or are late as well."""
    await own_world.submit(5_000)
    for in_s in (7200, 60):
        await own_world.submit(due(job_rows(2_000), in_s, *range(1, 2_001)))
    await check_that_a_step_reads_little(own_world)


async def test_step_reads_a_part_of_a_late_array(own_world: World) -> None:
    await own_world.submit(due(array_rows(20_000), 60, 1))
    await read_by_a_step(own_world)
    await check_that_a_step_reads_little(own_world)


MONITOR_TABLES = ("job", "attempt", "attempt_watch", "attempt_stop", "claim", "blocked_job")


async def test_step_reads_the_attempts_that_are_due(own_world: World) -> None:
    """However many others run."""
    await own_world.submit(2_000)
    batch = await watched(own_world, 2_000, executing_s=60)
    worker, claimed = await own_world.claim_and_start(4_000)
    await worker.beat(*claimed)
    await own_world.admin.execute(
        "UPDATE weft.attempt_watch SET due_at = due_at + interval '1 day' "
        "WHERE batch_id = $1 AND job_id % 100 <> 0",
        batch,
    )
    epoch = await own_world.lead()
    rows, found = await read_by_call(
        own_world,
        "weft_driver",
        MONITOR_TABLES,
        "stop_overdue",
        epoch=epoch,
        limit_jobs=100,
        confirm_s=120.0,
        at=datetime.now(UTC) + timedelta(seconds=90),
    )

    assert len(rows) == 20
    assert [table for table, read in found.items() if read.scans] == []
    assert found["attempt_watch"].rows_by_index < 200
    assert found["job"].rows_by_index < 1_000
    await worker.end(*claimed)


async def test_look_at_all_jobs_reads_a_page_of_those_in_open_batches(own_world: World) -> None:
    """However many there are, whatever they wait for."""
    worker = await own_world.worker()
    await own_world.submit(2_000)
    await worker.run(2_000)
    batch = await own_world.submit(
        job_rows(2_000, parents={number: [1] for number in range(2, 1_001)})
    )
    await worker.start(*await worker.claim(200))
    await own_world.fold()
    epoch = await own_world.lead()
    connection = await own_world.connect("weft_driver")
    page = {"epoch": epoch, "from_batch": batch, "limit_jobs": 100}
    page["from_tenant"] = own_world.caller.tenant_id
    for after_job in (0, 900, 1_200, 1_900):
        async with reads(connection, *MONITOR_TABLES, "edge", "group_count", "runnable") as found:
            await call_on(connection, "patrol", after_job=after_job, **page)
        assert [table for table, read in found.items() if read.scans] == []
        assert found["group_count"].rows_by_index <= 5
        assert found["job"].rows_by_index <= 1_000


async def test_look_passes_over_jobs_that_have_ended(own_world: World) -> None:
    """A step looks at as many open jobs as it may, and reads twenty times as many others."""
    batch, worker = await own_world.submit_and_run(2_600, limit=2_500)
    for priority in (7, 8, 9):
        await own_world.submit(job_rows(1_001, priority=[priority] * 1_001))
        await worker.run(1_000)
    await own_world.fold()
    epoch = await own_world.lead()
    connection = await own_world.connect("weft_driver")
    page = {"epoch": epoch, "from_tenant": own_world.caller.tenant_id, "from_batch": batch}
    steps, after_job, n_live = 0, 0, 0
    async with reads(connection, *MONITOR_TABLES) as found:
        while step := (
            await call_on(connection, "patrol", after_job=after_job, limit_jobs=100, **page)
        )[0]["patrol"]:
            steps, after_job, n_live = steps + 1, step["job_id"], n_live + step["n_live"]
            page["from_batch"] = step["batch_id"]

    assert (steps, n_live) == (4, 103)
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 7_000


POOL_TABLES = ("job", "ready_job", "runnable", "attempt", "lane", "machine")


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
        own_world, "weft_driver", POOL_TABLES, "pool_rounds", epoch=epoch, limit_jobs=100
    )
    await own_world.api.save_pools(own_world.caller, [])
    jobs = sum(one["n_jobs"] for one in row[0]["demand"])

    assert jobs == 100
    assert len(row[0]["own_jobs"]) == pool.creates_per_round
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 500


SCHEDULE_TABLES = ("schedule", "schedule_run")
_SCHEDULES = """
    WITH made AS (
        INSERT INTO weft.schedule (tenant_id, user_id, billing_project, cron, time_zone, missed,
            document, next_at, created_at, digest, project_id)
        SELECT $1, $2, 'default', '* * * * *', 'UTC', 'skip', '{}', now() + n * interval '1 hour',
            now(), '', p.project_id
        FROM generate_series(-9, 5000) n, weft.billing_project p
        WHERE p.tenant_id = $1 AND p.name = 'default' RETURNING schedule_id, tenant_id)
    INSERT INTO weft.schedule_run (schedule_id, due_at, tenant_id, ended_at, batch_id)
    SELECT schedule_id, now() - n * interval '1 hour', tenant_id, now(), schedule_id * 10 + n
    FROM made, generate_series(1, 3) n
"""


async def test_only_what_is_due_is_read(own_world: World) -> None:
    """However many schedules wait for later times, and runs have ended."""
    caller, epoch = own_world.caller, await own_world.lead()
    await own_world.admin.execute(_SCHEDULES, caller.tenant_id, caller.user_id)
    await own_world.admin.execute("ANALYZE weft.schedule, weft.schedule_run")
    driver, api = await own_world.connect("weft_driver"), await own_world.connect("weft_api")
    async with reads(driver, *SCHEDULE_TABLES) as by_driver:
        rows = await call_on(driver, "due_schedules", epoch=epoch, limit_rows=100)
        await call_on(driver, "loop_due", epoch=epoch, of_loop="schedules")
    async with reads(api, *SCHEDULE_TABLES) as by_api:
        await call_on(api, "take_schedule_runs", limit_rows=10, lease_s=1.0, besides=[])
        await call_on(api, "next_schedule_run", besides=[])

    assert len(rows) == 10
    for found in (by_driver, by_api):
        assert [table for table, read in found.items() if read.scans] == []
        assert max(read.rows_by_index for read in found.values()) < 100


TRANSPORT_TABLES = ("job", "ready_job", "runnable", "batch", "transport_offer", "user_share")


async def test_a_look_reads_few_of_the_jobs_that_wait(own_world: World) -> None:
    world, rabbit = own_world, await open_rabbit(own_world)
    listed = job_rows(N_JOBS, shapes=[rabbit.shape], priority=[1] * N_JOBS)
    for batch in (listed, job_rows(N_JOBS, priority=[1] * N_JOBS)):
        await world.submit(batch)
    await rabbit.submit(N_JOBS)
    for _ in range(20):
        await world.submit(job_rows(2, shapes=[rabbit.shape], priority=[1, 2]))
    nothing: dict[str, list[str]] = {"tenants": [], "queues": [], "messages": [], "consumers": []}
    _, found = await read_by_call(
        world,
        "weft_driver",
        TRANSPORT_TABLES,
        "note_transport",
        epoch=rabbit.epoch,
        transport=rabbit.names[0],
        error="no route",
        **nothing,
    )
    (condition,) = await world.api.list_conditions(world.caller, after_id=0, limit=9)

    assert condition["n_jobs"] == 1000 + 1000 + 40
    assert found["ready_job"].scans == found["job"].scans == 0
    assert found["ready_job"].rows_by_index < 1500
    assert found["job"].rows_by_index < 1500
