"""What the hot functions read: never a whole table, with statistics or without, however full.

The server counts per transaction what was scanned, inside functions too, so no plan is parsed.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from builders import end_report, job_rows, tree
from plans.conftest import Analyse
from plans.table_reads import N_JOBS, Reads, read_by_call, reads
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import UNKEYED, NewGroup, NewSet
from weft.store.database import call_on
from weft.store.end_columns import end_columns
from weft.store.offered_jobs import claimed_of
from weft.store.submission import _bunch

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
GROUPS = tree("a")


class Large:
    """A world with a large batch that is half done, and connections without plans."""

    def __init__(self, world: World, batch: int) -> None:
        self.world = world
        self.batch = batch

    async def tables_scanned(self, role: str, function: str, **arguments: Any) -> list[str]:  # noqa: ANN401
        """Call a function; return which of the large tables it scanned."""
        _, found = await read_by_call(
            self.world, role, ["job", "attempt", "edge"], function, **arguments
        )
        return sorted(table for table, one in found.items() if one.scans)


async def fill(world: World) -> int:
    """Submit 20,000 jobs in two groups, some with a parent; some run, some have ended."""
    rows = job_rows(
        N_JOBS,
        group=[number % 2 for number in range(N_JOBS)],
        parents={number: [number - 1] for number in range(100, N_JOBS + 1, 100)},
    )
    batch = await world.submit(rows, groups=GROUPS)
    worker = await world.worker("filler")
    for _ in range(2):
        await worker.end(*await worker.claim(2500))
    await worker.claim(500)
    return batch


async def test_hot_functions_never_scan_a_large_table(own_world: World, analyse: Analyse) -> None:
    large = Large(own_world, await fill(own_world))
    await analyse()
    scanned = {name: tables async for name, tables in calls(large) if tables}
    scanned |= {name: tables async for name, tables in calls_of_a_drain(large) if tables}

    assert scanned == {}


PARENTS = {"limit_parents": 3, "limit_counted": 100}
PROJECTS = {"of_names": None, "after_name": None, "members_max": None}
NOTHING: dict[str, list[int]] = {"batch_ids": [], "job_ids": [], "attempts": []}


async def calls_of_a_drain(large: Large) -> AsyncIterator[tuple[str, list[str]]]:
    """Drain a worker that has jobs; yield as `calls`."""
    world = large.world
    old = await world.worker("old")
    await old.claim(100)
    named = {"of_name": "old", "of_pool": world.pool}
    for role, function, more in (
        ("api", "drain_worker", {**named, "actor": "ada", "reason": None}),
        ("worker", "finish_drain", {"incarnation_id": old.id}),
        (
            "api",
            "get_worker",
            {**named, "pools_of_tenant_id": None, "tenant_id": world.caller.tenant_id},
        ),
    ):
        yield function, await large.tables_scanned(f"weft_{role}", function, **more)


async def calls(large: Large) -> AsyncIterator[tuple[str, list[str]]]:
    """Call each hot function once; yield its name and the large tables that it scanned."""
    world, batch = large.world, large.batch
    worker = await world.worker("hot")
    tenant = {"tenant_id": world.caller.tenant_id, "batch_id": batch}
    mine = {"incarnation_id": worker.id}

    async def scanned(role: str, function: str, **arguments: Any) -> tuple[str, list[str]]:  # noqa: ANN401
        return function, await large.tables_scanned(f"weft_{role}", function, **arguments)

    budget = {"budget_cpu_m": 10**9, "budget_memory_mib": 10**9, "limit_jobs": 300}
    yield await scanned("worker", "wait_for_work", **mine)
    yield await scanned("worker", "heartbeat", **mine, **NOTHING, draining=False)
    yield await scanned("worker", "claim_jobs", **mine, **budget)
    claimed = await worker.claim(700)
    columns = {
        name: [getattr(one, name[:-1]) for one in claimed]
        for name in ("batch_ids", "job_ids", "attempts")
    }
    yield await scanned("worker", "start_attempts", **mine, **columns, ages_us=[0] * len(claimed))
    yield await scanned("worker", "heartbeat", **mine, **columns, draining=False)
    yield await scanned("worker", "list_to_stop", **mine, **columns)
    for part, reason in (
        (claimed[:300], None),
        (claimed[300:500], Reason.EXIT),
        (claimed[500:600], Reason.LOST),
    ):
        reports = [end_report(one, reason) for one in part]
        yield await scanned("worker", "complete_attempts", **mine, **end_columns(reports))
    ends = end_columns([end_report(one) for one in claimed[600:]])
    yield await scanned("worker", "complete_and_claim", **mine, **ends, **budget)
    update, _ = await world.api.create_update(world.caller, batch, UNKEYED, n_jobs=300, n_groups=0)
    rows = job_rows(
        300, priority=1, parents={number: [-number, -N_JOBS] for number in range(1, 200)}
    )
    yield await scanned("api", "add_jobs", **_bunch(world.caller, batch, update.update_id, rows))
    yield await scanned("api", "commit_update", **tenant, of_update_id=update.update_id)
    yield await scanned("worker", "claim_jobs", **mine, **budget)
    yield await scanned("driver", "fold_deltas", epoch=await world.lead())
    await world.fold()
    yield await scanned("api", "get_batch", **tenant)
    yield await scanned("api", "list_jobs", **tenant, after=8_000, limit_rows=50, states=[])
    yield await scanned("api", "count_reasons", **tenant, of_group_id=1, after=9, limit_attempts=9)
    yield await scanned("api", "get_job", **tenant, job_id=8_000, **PARENTS)
    yield await scanned("api", "job_history", **tenant, job_id=100)
    yield await scanned(
        "api",
        "log_places",
        tenant_id=world.caller.tenant_id,
        of_batch_id=batch,
        job_ids=[1, 8_000],
        of_attempt=None,
    )
    yield await scanned("api", "cancel_jobs", **tenant, job_ids=[1, 12_000, 12_001], actor="x")
    yield await scanned("driver", "count_parent_ends", epoch=await world.lead(), limit_jobs=9)
    yield await scanned("driver", "sweep_cancelled", epoch=await world.lead(), limit_jobs=1000)
    yield await scanned("driver", "settle_children", epoch=await world.lead(), limit_jobs=1000)
    yield await scanned("api", "cancel_group", **tenant, group_id=1, actor="x", force=False)
    yield await scanned("worker", "claim_jobs", **mine, **budget)
    yield await scanned("driver", "sweep_cancelled", epoch=await world.lead(), limit_jobs=1000)
    yield await scanned("driver", "settle_children", epoch=await world.lead(), limit_jobs=1000)
    yield await scanned("worker", "leave", **mine)


async def claim_reads(world: World, incarnation: int) -> tuple[int, Reads]:
    """Claim 100 jobs without a hint; return how many came and what was read of the jobs."""
    rows, found = await read_by_call(
        world,
        "weft_worker",
        ["job"],
        "claim_jobs",
        incarnation_id=incarnation,
        budget_cpu_m=10**9,
        budget_memory_mib=10**9,
        limit_jobs=100,
    )
    return len(rows), found["job"]


async def test_claim_costs_the_same_when_most_of_the_batch_is_done(own_world: World) -> None:
    await own_world.submit(N_JOBS)
    worker = await own_world.worker()
    first = await claim_reads(own_world, worker.id)
    for _ in range(8):
        await worker.end(*await worker.claim(2000))
    await own_world.fold()
    last = await claim_reads(own_world, worker.id)

    assert (first[0], last[0]) == (100, 100)
    assert last[1].scans == 0
    assert last[1].rows_by_index <= first[1].rows_by_index + 50


async def test_reasons_are_counted_without_reading_what_succeeded(own_world: World) -> None:
    batch, worker = await own_world.submit_to_worker(10_000)
    await worker.end(*await worker.claim(5000))
    await worker.end(*await worker.claim(50), reason=Reason.EXIT)
    (row,), found = await read_by_call(
        own_world,
        "weft_api",
        ["job", "attempt"],
        "count_reasons",
        tenant_id=own_world.caller.tenant_id,
        batch_id=batch,
        of_group_id=0,
        after=0,
        limit_attempts=20,
    )

    assert row["items"][0]["n_jobs"] == 20
    assert [one.scans for one in found.values()] == [0, 0]
    assert max(one.rows_by_index for one in found.values()) <= 50


async def test_claim_does_not_read_a_cancelled_batch(own_world: World, worker: Worker) -> None:
    """Its ready jobs wait for the sweep; until then each claim passes it by."""
    cancelled, other = await own_world.submit(N_JOBS), await own_world.submit(1000)
    await own_world.api.cancel_group(own_world.caller, cancelled, 0, force=False)
    n, read = await claim_reads(own_world, worker.id)

    assert n == 100
    assert read.rows_by_index < 1000
    assert (await own_world.counts(other))["running"] == 100


async def test_cancelled_group_is_walked_over_without_a_look_up_for_each_job(
    own_world: World, worker: Worker
) -> None:
    """Its jobs wait for the sweep among those of other groups: their numbers are read, no more."""
    groups = [*GROUPS, NewGroup(group_id=2, parent_id=1, name="below")]
    rows = job_rows(N_JOBS, group=[2] * (N_JOBS - 200) + [0] * 200)
    batch = await own_world.submit(rows, groups=groups)
    await own_world.api.cancel_group(own_world.caller, batch, 1, force=False)
    connection = await own_world.connect("weft_worker")
    async with reads(connection, "group_ancestor", "group_cancel") as found:
        (has_work,) = await call_on(connection, "wait_for_work", incarnation_id=worker.id)
        claimed = await call_on(
            connection,
            "claim_jobs",
            incarnation_id=worker.id,
            budget_cpu_m=10**9,
            budget_memory_mib=10**9,
            limit_jobs=100,
        )

    assert has_work[0]
    assert [row["job_id"] for row in claimed] == list(range(N_JOBS - 199, N_JOBS - 99))
    assert sum(one.rows_by_index for one in found.values()) < 1000


async def test_page_of_jobs_reads_its_jobs_alone(own_world: World) -> None:
    batch = await own_world.submit(N_JOBS)
    connection = await own_world.connect("weft_api")
    of_batch = {"tenant_id": own_world.caller.tenant_id, "batch_id": batch}
    numbers = list(range(8_000, 8_050))
    for _ in range(7):  # until plans are generic
        async with reads(connection, "job") as listed:
            first = await call_on(
                connection, "list_jobs", **of_batch, after=8_000, limit_rows=50, states=[]
            )
        async with reads(connection, "job") as found:
            second = await call_on(connection, "get_jobs", **of_batch, job_ids=numbers)

        assert (len(first), len(second)) == (50, 50)
        assert listed["job"].rows_by_index <= 2000  # of all calls until now
        assert found["job"].rows_by_index <= 2000


async def test_documents_read_what_they_show(own_world: World, analyse: Analyse) -> None:
    """However many jobs, groups and deltas there are, and batches beside it."""
    tables = (
        "job",
        "batch",
        "batch_update",
        "attempt",
        "edge",
        "job_delta",
        "group_ancestor",
        "group_count",
        "group_usage",
        "project_usage",
        "tenant_user",
    )
    await own_world.submit(3)
    await own_world.fold()
    await analyse()
    groups = [NewGroup(group_id=n, parent_id=0, name=f"g{n}") for n in range(1, 1001)]
    rows = job_rows(N_JOBS, group=[n % 1000 + 1 for n in range(N_JOBS)])
    batch = await own_world.submit(rows, groups=groups)
    for _ in range(300):
        await own_world.submit(1)
    await own_world.fold()
    worker = await own_world.worker()
    await worker.end(*await worker.claim(300))
    connection = await own_world.connect("weft_api")
    tenant = {"tenant_id": own_world.caller.tenant_id}
    mine, of_batch = {**tenant, "batch_id": batch}, {**tenant, "of_batch_id": batch}
    page = {"after": 500, "limit_rows": 50}
    any_name = {**tenant, "of_name": None, "limit_rows": 50}
    read = {}
    for function, arguments in (
        ("get_job", {**mine, "job_id": 8_000, **PARENTS}),
        ("list_attempts", {**mine, "job_id": 1}),
        ("job_history", {**mine, "job_id": 1}),
        ("list_jobs", {**mine, **page, "states": []}),
        ("get_jobs", {**mine, "job_ids": list(range(8_000, 8_050))}),
        ("list_job_entries", {**mine, **page, "after": 0, "of_job_ids": None}),
        ("log_places", {**of_batch, "job_ids": [1, 8_000], "of_attempt": None}),
        ("cancel_jobs", {**mine, "job_ids": [12_000], "actor": "x"}),
        ("extend_job", {**mine, "job_id": 11_999, "by_ms": 1000, "actor": "x"}),
        ("get_batch", mine),
        ("get_group", {**mine, "group_id": 5, "path": None}),
        ("list_groups", {**mine, **page}),
        ("get_batches", {**tenant, "batch_ids": list(range(batch, batch + 50))}),
        ("list_batches", {**any_name, "before": None, "with_hidden": False}),
        ("list_projects", {**any_name, **PROJECTS, "of_user_id": own_world.caller.user_id}),
    ):
        async with reads(connection, *tables) as found:
            await call_on(connection, function, **arguments)
        read[function] = {k: one.rows_scanned + one.rows_by_index for k, one in found.items()}

    limits = dict.fromkeys(tables, 450) | {"job_delta": 3500, "group_ancestor": 3500}
    wrong = {
        function: over
        for function, one in read.items()
        if (over := {name: n for name, n in one.items() if n > limits[name]})
    }
    assert wrong == {}


async def test_set_reads_its_new_members_alone(own_world: World, analyse: Analyse) -> None:
    await own_world.submit(3)
    await analyse()
    batch = await own_world.submit(N_JOBS)
    chosen, _ = await own_world.api.create_set(own_world.caller, batch, NewSet(name="chosen"))
    (row,), found = await read_by_call(
        own_world,
        "weft_api",
        ["job"],
        "add_members",
        tenant_id=own_world.caller.tenant_id,
        batch_id=batch,
        group_id=chosen,
        job_ids=list(range(8_000, 8_500)),
        sets_max=10,
    )

    assert row["n_added"] == 500
    assert found["job"].scans == 0
    assert found["job"].rows_by_index <= 10 * 500


async def test_worker_that_goes_to_sleep_does_not_read_a_cancelled_batch(own_world: World) -> None:
    cancelled, other = await own_world.submit(N_JOBS), await own_world.submit(10)
    worker = await own_world.worker()
    await own_world.api.cancel_group(own_world.caller, cancelled, 0, force=False)
    (row,), found = await read_by_call(
        own_world, "weft_worker", ["job"], "wait_for_work", incarnation_id=worker.id
    )

    assert row[0]
    assert found["job"].rows_by_index < 1000
    assert (await own_world.counts(other))["ready"] == 10


@pytest.mark.parametrize("heard", [False, True])
async def test_heartbeat_looks_up_no_job_that_has_ended(own_world: World, *, heard: bool) -> None:
    """Of a worker that has claimed thousands since the last one, from a range and one by one.

    Those that it has heard of and does not hold are not read at all.
    """
    await own_world.submit(5000)
    await own_world.submit(job_rows(300, priority=1))
    worker = await own_world.worker()
    claimed = [*await worker.claim(200), *await worker.claim(5000)]
    await worker.end(*claimed[:-1])
    await own_world.fold()
    last = claimed[-1]
    _, found = await read_by_call(
        own_world,
        "weft_worker",
        ["job"],
        "heartbeat",
        incarnation_id=worker.id,
        batch_ids=[last.batch_id],
        job_ids=[last.job_id],
        attempts=[last.attempt],
        draining=False,
        heard=list(worker.memory.heard()) if heard else [],
    )
    jobs = await own_world.admin.fetchval("SELECT array_agg(jobs) FROM weft.claim")

    assert found["job"].index_scans < 50
    assert found["job"].rows_by_index < (50 if heard else 6000)
    assert jobs == [[last.job_id]]


async def test_neighbours_are_told_by_reading_them_alone(own_world: World, worker: Worker) -> None:
    """The tenth set of a connection, when plans are generic, in tables that are not analysed."""
    await own_world.submit(3000)
    while await worker.run(500):
        pass
    await own_world.submit(job_rows(3001, parents={child: [1] for child in range(2, 3002)}))
    await worker.run()
    connection, told = await own_world.connect("weft_driver"), {"limit_jobs": 300}
    told["epoch"] = await own_world.lead()
    for _ in range(9):
        await call_on(connection, "settle_children", **told)
    async with reads(connection, "job", "edge", "attempt", "runnable") as found:
        await call_on(connection, "settle_children", **told)
    await connection.close()

    assert [one.scans for one in found.values()] == [0] * 4
    assert found["job"].rows_by_index <= 2 * 300 + 10
    assert found["edge"].rows_by_index <= 300
    assert found["attempt"].rows_by_index <= 3
    assert found["runnable"].rows_by_index <= 20


async def test_changes_of_state_touch_no_index(own_world: World, worker: Worker) -> None:
    """Heap-only updates: claim, start and end of 3,000 jobs, each in its own transaction."""
    await own_world.submit(3000)
    connection = await own_world.connect("weft_worker")
    while claimed := await call_on(
        connection,
        "claim_jobs",
        incarnation_id=worker.id,
        budget_cpu_m=10**9,
        budget_memory_mib=10**9,
        limit_jobs=100,
    ):
        columns = end_columns([end_report(claimed_of(row)) for row in claimed])
        starts = {name: columns[name] for name in ("batch_ids", "job_ids", "attempts")}
        starts["ages_us"] = [0] * len(claimed)
        await call_on(connection, "start_attempts", incarnation_id=worker.id, **starts)
        await call_on(connection, "complete_attempts", incarnation_id=worker.id, **columns)
    await connection.execute("SELECT pg_stat_force_next_flush()")
    async with asyncio.timeout(60):
        row = None
        while row is None or row["n_tup_upd"] < 9000:
            row = await own_world.admin.fetchrow(
                "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'job'"
            )

    assert row["n_tup_hot_upd"] / row["n_tup_upd"] > 0.9
