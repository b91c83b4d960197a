"""Gates: places are given in order, come back on every way out, and never exceed the limit."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest

from builders import job_rows
from contexts import beside
from store.barriers import hold_and_park, licence, limit, numbers, park, places, release, visit
from store.world import Worker, World
from weft.core.states import Reason
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.settings import Settings
from weft.sql import files_of
from weft.store import open_driver_store
from weft.submission.translation.gates import SENTENCES

_OTHER_POOL = """
    WITH pool AS (INSERT INTO weft.pool (name) VALUES ($1 || '-other') RETURNING pool_id),
    queue AS (
        INSERT INTO weft.queue (tenant_id, pool_id, name) SELECT $2, pool_id, 'other' FROM pool
        RETURNING queue_id)
    UPDATE weft.batch b SET queue_id = q.queue_id FROM queue q WHERE b.batch_id = $3
"""


async def test_range_is_admitted_in_order_and_commit_lists_no_more(world: World) -> None:
    batch = await world.submit(1000, max_running=3)
    listed = await world.admin.fetchval(
        "SELECT count(*) FROM weft.ready_job WHERE batch_id = $1", batch
    )
    worker = await world.worker()

    assert listed == 3
    assert await places(world, batch) == [1, 2, 3]
    assert [await worker.run() for _ in range(3)] == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


async def test_priority_comes_first_also_after_others_were_admitted(world: World) -> None:
    batch = await world.submit(job_rows(2), max_running=1)
    await world.submit(job_rows(2, priority=[0, 5]), batch=batch)
    worker = await world.worker()

    assert await places(world, batch) == [4]
    assert [await worker.run() for _ in range(5)] == [[4], [1], [2], [3], []]


@pytest.mark.parametrize("reason", [None, Reason.EXIT, Reason.LOST, Reason.CANCELLED])
async def test_every_end_frees_the_place_without_the_driver(
    world: World, worker: Worker, reason: Reason | None
) -> None:
    batch = await world.submit(2, max_running=1)
    first = await worker.run(reason=reason)
    second = await worker.claim()

    assert first == [1]
    assert numbers(second) == [1 if reason is Reason.LOST else 2]
    assert await places(world, batch) == numbers(second)


async def test_cancelled_job_leaves_its_place_to_the_next(world: World, worker: Worker) -> None:
    batch = await world.submit(3, max_running=1)
    await world.api.cancel_jobs(world.caller, batch, [1])
    await visit(world)

    assert [await worker.run() for _ in range(3)] == [[2], [3], []]


async def test_cancelled_batch_has_no_places(world: World) -> None:
    batch = await world.submit(50, max_running=5)
    await world.cancel(batch)
    await visit(world)

    assert await places(world, batch) == []
    assert set(await world.states(batch)) == {"c"}


async def test_held_job_leaves_its_place_and_waits_at_the_gate_after_its_release(
    world: World,
) -> None:
    batch = await world.submit(3, max_running=1)
    await world.api.hold_jobs(world.caller, batch, [1])
    await visit(world)
    while_held = await places(world, batch)
    await world.api.release_jobs(world.caller, batch, [1])
    worker = await world.worker()

    assert while_held == [2]
    assert [await worker.run() for _ in range(4)] == [[2], [1], [3], []]


async def test_held_batch_is_admitted_again_after_its_release(world: World) -> None:
    batch = await world.submit(20, max_running=2)
    await hold_and_park(world, batch)
    await visit(world)
    while_held = await places(world, batch)
    await release(world, batch)
    worker = await world.worker()

    assert while_held == []
    assert len(await worker.claim()) == 2
    await park(world)
    assert await places(world, batch) == [1, 2]


async def test_limit_is_raised_and_lowered(world: World) -> None:
    batch, worker, running = await world.submit_and_claim(20, max_running=2)
    await limit(world, batch, 4)
    more = await worker.claim()
    await limit(world, batch, 1)
    await worker.end(*running)
    none = await worker.claim()
    await worker.end(*more)
    one = await worker.claim()
    await limit(world, batch, 15)
    rest = await worker.claim()

    assert (numbers(running), numbers(more), none) == ([1, 2], [3, 4], [])
    assert (numbers(one), len(rest)) == ([5], 14)


async def test_lower_limit_takes_places_back_that_are_not_claimed(world: World) -> None:
    batch = await world.submit(20, max_running=5)
    await limit(world, batch, 2)

    assert await places(world, batch) == [1, 2]
    assert len(await (await world.worker()).claim()) == 2


async def test_shared_gate_lets_as_many_as_it_has_and_all_gates_or_none(world: World) -> None:
    first, second = [await world.submit(0, max_running=2) for _ in range(2)]
    await licence(world, 3, first, second)
    for batch in (first, second):
        await world.submit(10, batch=batch)
    worker, claimed = await world.claim()
    held = [await places(world, batch) for batch in (first, second)]
    done = [len(claimed)]
    while claimed:
        await worker.end(*claimed)
        claimed = await worker.claim()
        done.append(len(claimed))

    assert held == [[1, 1, 2, 2], [1, 1]]
    assert sum(done) == 20
    assert max(done) == 3


async def test_place_that_nobody_claims_goes_to_a_pool_with_workers(world: World) -> None:
    """One licence, two pools, one of them without workers."""
    alone, served = [await world.submit(0) for _ in range(2)]
    await world.admin.execute(_OTHER_POOL, world.pool, world.caller.tenant_id, alone)
    await licence(world, 1, alone, served)
    for batch in (alone, served):
        await world.submit(3, batch=batch)
    worker, first = await world.claim()
    await worker.waits()
    early = await visit(world)
    await visit(world, in_s=5)
    done = [await worker.run() for _ in range(3)]

    assert (first, early) == ([], 0)
    assert done == [[1], [2], [3]]
    # The one without workers has it again, because nobody else waits for it.
    assert await places(world, alone) == [1]
    assert await visit(world, in_s=10) == 0


async def test_gate_opens_at_its_date(world: World) -> None:
    batch = await world.submit(0)
    await licence(world, None, batch, opens_at=datetime.now(UTC) + timedelta(hours=1))
    _, worker, early = await world.submit_and_claim(2, batch=batch)
    await visit(world)
    still_early = await worker.claim()
    await visit(world, in_s=3601)

    assert early == still_early == []
    assert len(await worker.claim()) == 2
    # Whoever comes later is not delayed.
    await world.submit(1, batch=batch)
    assert len(await worker.claim()) == 1


async def test_audit_finds_a_gate_that_nobody_opened(world: World) -> None:
    batch = await world.submit(0)
    gate = await licence(world, None, batch, opens_at=datetime.now(UTC) + timedelta(hours=1))
    await world.submit(2, batch=batch)
    await visit(world)
    await world.admin.execute(
        "UPDATE weft.gate SET opens_at = now() - interval '2 minutes' WHERE gate_id = $1", gate
    )
    overdue = await world.findings()
    await visit(world)

    assert list(overdue) == ["free_places_are_used"]


async def test_commit_behind_a_date_lists_nothing(world: World) -> None:
    """However many jobs: they are one range until the gate opens."""
    batch = await world.submit(0)
    await licence(world, None, batch, opens_at=datetime.now(UTC) + timedelta(hours=1))
    await world.submit(5000, batch=batch)
    rows = await world.admin.fetchrow(
        "SELECT (SELECT count(*) FROM weft.runnable WHERE batch_id = $1),"
        " (SELECT count(*) FROM weft.ready_job WHERE batch_id = $1),"
        " (SELECT count(*) FROM weft.job WHERE batch_id = $1 AND listed)",
        batch,
    )

    assert tuple(rows) == (1, 0, 0)


async def test_job_behind_a_date_takes_no_place_from_others(world: World, worker: Worker) -> None:
    """It shares a licence with jobs that may start now; the licence is free for them."""
    later, now = [await world.submit(0) for _ in range(2)]
    await licence(world, 1, later, now)
    opens_at = datetime.now(UTC) + timedelta(hours=1)
    await licence(world, None, later, opens_at=opens_at)
    for batch in (later, now):
        await world.submit(job_rows(2, priority=5 if batch == later else 0), batch=batch)
    first = await places(world, now)
    done = [await worker.run() for _ in range(3)]
    await visit(world, in_s=3601)

    assert first == [1]
    assert done == [[1], [2], []]
    assert await places(world, later) == [1, 1]


@pytest.mark.parametrize("obstacle", ["date", "limit"])
async def test_place_is_kept_if_nobody_else_could_use_it(world: World, obstacle: str) -> None:
    """Another job waits for the licence, and for something else: it would not start either."""
    alone, served = await world.submit(0), await world.submit(0, max_running=1)
    await world.admin.execute(_OTHER_POOL, world.pool, world.caller.tenant_id, alone)
    await licence(world, 1 if obstacle == "date" else 2, alone, served)
    await world.submit(1, batch=alone)
    worker = await world.worker()
    if obstacle == "date":
        opens_at = datetime.now(UTC) + timedelta(hours=1)
        await licence(world, None, served, opens_at=opens_at, name="date")
        await world.submit(1, batch=served)
    else:
        await world.submit(2, batch=served)
        assert len(await worker.claim()) == 1
    await worker.waits()

    assert await visit(world, in_s=5) == 0
    assert await places(world, alone) == [1]


async def test_each_kind_has_its_sentence(world: World) -> None:
    rows = await world.admin.fetch("SELECT kind FROM weft._gate_kinds()")

    assert sorted(row["kind"] for row in rows) == sorted(SENTENCES)


async def test_each_kind_that_is_made_of_a_queue_names_its_field(world: World) -> None:
    rows = await world.admin.fetch("SELECT * FROM weft._gate_kinds()")

    assert {row["owner"] for row in rows} == {"batch", "tenant", "site"}
    for row in rows:
        assert (row["queue_field"] is None) is (row["limited_by"] != "queue"), row["kind"]


async def test_gate_of_no_kind_is_refused(world: World) -> None:
    with pytest.raises(asyncpg.NotNullViolationError):
        await world.admin.execute(
            'SELECT weft._intern_gates($1, NULL, ARRAY[\'[{"kind": "none"}]\'::jsonb])',
            world.caller.tenant_id,
        )


def test_keys_are_made_in_one_function() -> None:
    """Neither who shares a gate nor how its key is written stands anywhere else."""
    made = re.compile(r"\bkey (=|<>) (concat|format|'[ts]/)|starts_with\(g\.key, (concat|')")
    by_kind = re.compile(r"\bg\.kind (=|<>|IN|NOT IN) \(?'")
    found = [
        file.name
        for folder in ("functions", "audit")
        for file in files_of(folder)
        if "weft.gate " in file.source
        and (made.search(file.source) or by_kind.search(file.source))
    ]

    assert found == []


pytestmark = pytest.mark.slow

SETTINGS = Settings(home=Path("/nowhere"), heartbeat_s=3600)
_ASLEEP = "SELECT waiting FROM weft.driver_state"
_ADMITTED_AT = "SELECT min(admitted_at) FROM weft.place WHERE batch_id = $1"


@asynccontextmanager
async def sleeping_driver(world: World) -> AsyncIterator[None]:
    """Run a driver whose heartbeats never come, and wait until it sleeps."""
    async with open_driver_store(world.backend.dsns["weft_driver"]) as store:
        driver = Driver(store, store.notices, SETTINGS, Adapters(), on_state=lambda _state: None)
        async with beside(driver.run()):
            await until(world, _ASLEEP)
            yield


async def until(world: World, question: str, *arguments: object) -> None:
    """Ask until the answer is not null or false."""
    async with asyncio.timeout(30):
        while not await world.admin.fetchval(question, *arguments):
            pass


@pytest.mark.parametrize("jobs_first", [False, True])
async def test_gate_opens_while_the_driver_sleeps(own_world: World, *, jobs_first: bool) -> None:
    batch = await own_world.submit(0)
    opens_at = datetime.now(UTC) + timedelta(seconds=2)
    if jobs_first:
        await licence(own_world, None, batch, opens_at=opens_at)
        await own_world.submit(3, batch=batch)
    async with sleeping_driver(own_world):
        if not jobs_first:
            await licence(own_world, None, batch, opens_at=opens_at)
            await own_world.submit(3, batch=batch)
        await until(own_world, _ADMITTED_AT, batch)
    admitted_at = await own_world.admin.fetchval(_ADMITTED_AT, batch)

    assert opens_at <= admitted_at
    assert len(await (await own_world.worker()).claim()) == 3


async def test_date_that_is_moved_forward_rings_the_driver(own_world: World) -> None:
    batch = await own_world.submit(0)
    gate = await licence(own_world, None, batch, opens_at=datetime.now(UTC) + timedelta(hours=1))
    await own_world.submit(3, batch=batch)
    async with sleeping_driver(own_world):
        await own_world.admin.execute(
            "WITH moved AS (UPDATE weft.gate SET opens_at = clock_timestamp() + interval '0.1 s' "
            "WHERE gate_id = $1) SELECT weft._ring_gates(ARRAY[$1::int])",
            gate,
        )
        await until(own_world, _ADMITTED_AT, batch)
