"""What the pages read of lists and pictures: a bounded number of rows, however large they are."""

from typing import Any

import pytest

from builders import job_rows
from plans.conftest import Analyse
from plans.table_reads import read_by_call, reads
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import NewGroup
from weft.store.database import call_on

pytestmark = pytest.mark.slow
N = 2_000
PAGE = 20
CLAIMED = 1_000
"""Jobs of each worker: those of ten workers may be read for a page."""
TABLES = (
    "worker", "worker_incarnation", "claim", "job", "pool", "machine", "billing_project",
    "project_usage", "billing_member", "queue", "user_share", "group_count",
)  # fmt: skip


async def _fill(world: World) -> None:
    """Make a fleet: each second worker has ended in order, and each was started three times."""
    execute, tenant = world.admin.execute, world.caller.tenant_id
    pool = await world.admin.fetchval("SELECT pool_id FROM weft.pool WHERE name = $1", world.pool)
    await execute(
        "INSERT INTO weft.worker (pool_id, name, host, deleted_at) SELECT $2, "
        "'n' || lpad(n::text, 5, '0'), 'h', CASE WHEN n % 2 = 0 THEN clock_timestamp() END "
        "FROM generate_series(1, $1) n", N, pool
    )  # fmt: skip
    await execute(
        "INSERT INTO weft.worker_incarnation (worker_id, pool_id, name, version, cpu_m, "
        "memory_mib, storage_mib, gpu, registered_at, heartbeat_at, ended_at, offers) "
        "SELECT w.worker_id, w.pool_id, w.name || '.' || n, '1', 1000, 1024, 0, 0, "
        "clock_timestamp(), clock_timestamp(), "
        "CASE WHEN n < 3 OR w.deleted_at IS NOT NULL THEN clock_timestamp() END, '{}' "
        "FROM weft.worker w CROSS JOIN generate_series(1, 3) n WHERE w.pool_id = $1", pool
    )  # fmt: skip
    await execute("UPDATE weft.worker SET cordon_reason = 'new disk' WHERE pool_id = $1", pool)
    await execute("SELECT weft._fold_worker_sums()")
    numbers = "lpad(n::text, 5, '0') FROM generate_series(1, $1) n"
    await execute(f"INSERT INTO weft.pool (name) SELECT 'p' || {numbers}", N)
    await execute(
        f"INSERT INTO weft.billing_project (tenant_id, name) SELECT $2, 'p' || {numbers}",
        N,
        tenant,
    )
    await execute(
        "INSERT INTO weft.queue (tenant_id, pool_id, name, priority) "
        "SELECT $2, $3, 'q' || n, n FROM generate_series(1, $1) n", N, tenant, pool
    )  # fmt: skip
    await execute(
        "INSERT INTO weft.group_count (batch_id, group_id, tenant_id, n_ready) "
        "SELECT 1000000 + n, 0, $2, 1 FROM generate_series(1, $1) n", N, tenant
    )  # fmt: skip
    await execute(
        "INSERT INTO weft.claim (incarnation_id, batch_id, lane_id, jobs) "
        "SELECT i.incarnation_id, 1000000, 1, ARRAY(SELECT generate_series(1, $1)) "
        "FROM weft.worker_incarnation i WHERE i.ended_at IS NULL", CLAIMED
    )  # fmt: skip


async def test_page_of_a_list_reads_no_more_than_it_shows(
    own_world: World, analyse: Analyse
) -> None:
    await _fill(own_world)
    await analyse()
    tenant, page = {"tenant_id": own_world.caller.tenant_id}, {"limit_rows": PAGE}
    calls: dict[str, dict[str, Any]] = {
        "list_workers": {**tenant, "pools_of_tenant_id": None, "with_deleted": False,
                            "after_name": "n01000", "after_pool": own_world.pool},
        "list_pools": {"of_tenant_id": None, "of_name": None, "after_name": "p01000"},
        "list_projects": {**tenant, "of_user_id": None, "of_name": None, "of_names": None,
                             "after_name": "p01000", "members_max": None},
        "list_queues": {**tenant, "with_counts": True, "below": 1000},
    }  # fmt: skip
    connection = await own_world.connect("weft_api")
    await connection.execute("SELECT set_config('weft.user', '', false)")
    over = {}
    for function, arguments in calls.items():
        await connection.execute("SELECT pg_stat_force_next_flush()")
        async with reads(connection, *TABLES) as found:
            rows = await call_on(connection, function, **arguments, **page)
        assert len(rows) == PAGE
        read = {name: one.rows_scanned + one.rows_by_index for name, one in found.items()}
        over[function] = {name: n for name, n in read.items() if n > 8 * PAGE}
        if function == "list_workers":
            assert [row[0]["worker"] for row in rows[:2]] == ["n01001", "n01003"]
            assert [row[0]["n_running"] for row in rows] == [0] * 10 + [None] * 10
    async with reads(connection, "job", "claim", "attempt") as jobs:
        await call_on(connection, "sum_workers", pools_of_tenant_id=None, limit_rows=PAGE)
    tables = ("worker", "worker_incarnation", "worker_sum", "pool")
    async with reads(connection, *tables) as fleet:
        sums = await call_on(connection, "sum_workers", pools_of_tenant_id=1, limit_rows=PAGE)

    assert {one.scans + one.index_scans for one in jobs.values()} == {0}
    assert (sums[0][0]["n_workers"], len(sums[0][0]["set_aside"])) == (N // 2, PAGE)
    assert max(one.rows_scanned + one.rows_by_index for one in fleet.values()) < 4 * PAGE
    assert {function: more for function, more in over.items() if more} == {}


N_JOBS = 20_000
N_EDGES = N_JOBS - 1
PICTURE_TABLES = (
    "job",
    "attempt",
    "edge",
    "job_group",
    "group_ancestor",
    "bunch_count",
    "job_change",
)


async def test_few_rows_of_a_large_batch_are_read(own_world: World, worker: Worker) -> None:
    """Also of a job with many parents."""
    groups = [NewGroup(group_id=i, parent_id=0, name=f"g{i}") for i in range(1, 101)]
    parents = {i: [i // 2] for i in range(2, N_JOBS)} | {N_JOBS: list(range(1, N_JOBS, 2))}
    rows = job_rows(N_JOBS, group=[i % 101 for i in range(N_JOBS)], parents=parents)
    batch = await own_world.submit(rows, groups=groups)
    await worker.end(*await worker.claim(40), reason=Reason.EXIT)
    of = {"tenant_id": own_world.caller.tenant_id, "batch_id": batch}
    for function, arguments, rows_max in (
        ("list_edges", {"job_ids": list(range(N_JOBS - 999, N_JOBS + 1)), "limit_rows": 500}, 520),
        ("list_children", {"job_id": 7, "after": 0, "limit_rows": 9}, 40),
        ("list_parents", {"job_id": N_JOBS, "after": N_JOBS // 2, "limit_rows": 9}, 40),
        ("get_job", {"job_id": N_JOBS, "limit_parents": 10, "limit_counted": 50}, 70),
        ("list_group_edges", {"of_group_id": 0, "limit_rows": 200}, 1500),
        ("list_group_edges", {"of_group_id": 7, "limit_rows": 200}, 1500),
        ("sample_attempts", {"limit_jobs": 100}, 400),
        ("list_parent_groups", {"group_ids": [0, 1, 2]}, 20),
        ("list_sets", {"after": "", "limit_rows": 9}, 20),
    ):
        _, found = await read_by_call(
            own_world, "weft_api", PICTURE_TABLES, function, **of, **arguments
        )

        assert {table: one.scans for table, one in found.items() if one.scans} == {}, function
        assert sum(one.rows_by_index for one in found.values()) <= rows_max, function
