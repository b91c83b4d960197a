"""What the pages read of lists and pictures, and what they add up: a bounded number of rows,
however many users, machines, batches and jobs there are.
"""

from datetime import date
from typing import Any

import asyncpg
import pytest

from builders import job_rows
from plans.conftest import Analyse
from plans.table_reads import read_by_call, reads
from store.usage_sums import add_up_usage
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
    "worker",
    "worker_incarnation",
    "claim",
    "job",
    "pool",
    "machine",
    "billing_project",
    "project_usage",
    "billing_member",
    "queue",
    "user_share",
    "group_count",
)


async def _fill(world: World) -> None:
    """Make a fleet: each second worker has ended in order, and each was started three times."""
    execute, tenant = world.admin.execute, world.caller.tenant_id
    pool = await world.admin.fetchval("SELECT pool_id FROM weft.pool WHERE name = $1", world.pool)
    await execute(
        "INSERT INTO weft.worker (pool_id, name, host, deleted_at) SELECT $2, "
        "'n' || lpad(n::text, 5, '0'), 'h', CASE WHEN n % 2 = 0 THEN clock_timestamp() END "
        "FROM generate_series(1, $1) n",
        N,
        pool,
    )
    await execute(
        "INSERT INTO weft.worker_incarnation (worker_id, pool_id, name, version, cpu_m, "
        "memory_mib, storage_mib, gpu, registered_at, heartbeat_at, ended_at, offers) "
        "SELECT w.worker_id, w.pool_id, w.name || '.' || n, '1', 1000, 1024, 0, 0, "
        "clock_timestamp(), clock_timestamp(), "
        "CASE WHEN n < 3 OR w.deleted_at IS NOT NULL THEN clock_timestamp() END, '{}' "
        "FROM weft.worker w CROSS JOIN generate_series(1, 3) n WHERE w.pool_id = $1",
        pool,
    )
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
        "SELECT $2, $3, 'q' || n, n FROM generate_series(1, $1) n",
        N,
        tenant,
        pool,
    )
    await execute(
        "INSERT INTO weft.group_count (batch_id, group_id, tenant_id, n_ready) "
        "SELECT 1000000 + n, 0, $2, 1 FROM generate_series(1, $1) n",
        N,
        tenant,
    )
    await execute(
        "INSERT INTO weft.claim (incarnation_id, batch_id, lane_id, jobs) "
        "SELECT i.incarnation_id, 1000000, 1, ARRAY(SELECT generate_series(1, $1)) "
        "FROM weft.worker_incarnation i WHERE i.ended_at IS NULL",
        CLAIMED,
    )


async def test_page_of_a_list_reads_no_more_than_it_shows(
    own_world: World, analyse: Analyse
) -> None:
    await _fill(own_world)
    await analyse()
    tenant, page = {"tenant_id": own_world.caller.tenant_id}, {"limit_rows": PAGE}
    calls: dict[str, dict[str, Any]] = {
        "list_workers": {
            **tenant,
            "pools_of_tenant_id": None,
            "with_deleted": False,
            "after_name": "n01000",
            "after_pool": own_world.pool,
        },
        "list_pools": {"of_tenant_id": None, "of_name": None, "after_name": "p01000"},
        "list_projects": {
            **tenant,
            "of_user_id": None,
            "of_name": None,
            "of_names": None,
            "after_name": "p01000",
            "members_max": None,
        },
        "list_queues": {**tenant, "with_counts": True, "below": 1000},
    }
    connection = await own_world.connect("weft_api")
    await connection.execute("SELECT set_config('weft.user', '', false)")
    over = {}
    for function, arguments in calls.items():
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


DAYS = 30
TODAY = date(2026, 5, 31)
READ = (
    "SELECT c.relname, greatest(pg_stat_get_xact_tuples_returned(c.oid), "
    "pg_stat_get_xact_tuples_fetched(c.oid)) FROM pg_class c "
    "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind IN ('r', 'i')"
)
FILL = """
INSERT INTO weft.tenant_user (tenant_id, name) SELECT {t}, 'u' || n FROM {n} n;
INSERT INTO weft.billing_project (tenant_id, name) SELECT {t}, 'p' || n FROM {n} n;
INSERT INTO weft.billing_member (project_id, user_id, tenant_id) SELECT p.project_id,
  u.user_id, {t} FROM weft.billing_project p, weft.tenant_user u WHERE p.name = 'default' AND
  u.name LIKE 'u%' ON CONFLICT DO NOTHING;
INSERT INTO weft.user_count SELECT {t}, u.user_id, {default}, 1, 0, 0, 0, 1, 0 FROM
  weft.tenant_user u WHERE u.name LIKE 'u%';
INSERT INTO weft.user_count SELECT {t}, 0, p.project_id, 0, 0, 0, 0, 0, 0 FROM
  weft.billing_project p WHERE p.name LIKE 'p%';
INSERT INTO weft.user_count VALUES ({t}, 0, {default}, {most}, 0, 0, 0, {most}, 0), ({t}, 0, 0,
  {most}, 0, 0, 0, {most}, 0);
INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight, running_m, n_ready,
  load) SELECT {pool}, u.user_id, {t}, u.user_id % 2 = 0, 1, 1000, 1, u.user_id % 7 FROM
  weft.tenant_user u WHERE u.name LIKE 'u%';
INSERT INTO weft.pool_load VALUES ({pool}, {most} * 1000);
INSERT INTO weft.queue (tenant_id, pool_id, name, priority) SELECT {t}, {pool}, 'q' || n, n
  FROM {n} n;
INSERT INTO weft.queue_count SELECT {t}, 'q' || n, 1, 1 FROM {n} n UNION ALL SELECT {t},
  'default', 7, 8;
INSERT INTO weft.shape (cpu_m, memory_mib, storage_mib, gpu) SELECT 1000 + n, 1024, 0, 0 FROM
  {n} n;
INSERT INTO weft.project_usage (project_id, usage_on, rate_card_id, shape_id, tenant_id,
  usage_ms) SELECT p.project_id, date '2026-05-31' - d, 1, {shape} + p.project_id, {t}, 1000
  FROM weft.billing_project p CROSS JOIN generate_series(0, {days} - 1) d WHERE p.tenant_id =
  {t};
INSERT INTO weft.project_usage (project_id, usage_on, rate_card_id, shape_id, tenant_id,
  usage_ms) SELECT {default}, date '2026-05-01', 1, {shape} + n, {t}, 1000 FROM {n} n ON
  CONFLICT DO NOTHING;
INSERT INTO weft.user_usage SELECT p.project_id, u.user_id, p.usage_on, 1, p.shape_id, {t},
  p.usage_ms FROM weft.project_usage p JOIN weft.tenant_user u ON u.user_id = 1 + p.project_id
  % {most};
INSERT INTO weft.machine (pool_id, name, provider, flavour, region, cpu_m, price_per_hour,
  pool_max, state, reason, created_at, changed_at) SELECT {pool}, 'm' || n, 'x', 'small', '',
  1000, 1, {most}, 'active', '', clock_timestamp(), clock_timestamp() FROM {n} n;
INSERT INTO weft.pool_cost SELECT {pool}, date '2020-01-01' + n, 'small', 1, 1, 1, 1 FROM {n} n;
INSERT INTO weft.pool_change (pool_id, at, kind, reason) SELECT {pool}, clock_timestamp(),
  'apply', '' FROM {n} n;
INSERT INTO weft.condition (tenant_id, kind, tester, parameters, digest, since, next_test_at)
  SELECT {t}, 'k' || n, 't', '{{}}', n::text, clock_timestamp(), 'infinity' FROM {n} n;
INSERT INTO weft.batch OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(b,
  jsonb_build_object('batch_id', {batch} + n, 'idempotency_key', NULL))).* FROM weft.batch b,
  {n} n WHERE b.batch_id = {batch};
ALTER TABLE weft.job DISABLE TRIGGER USER;
INSERT INTO weft.job SELECT (jsonb_populate_record(j, jsonb_build_object('batch_id', {batch} +
  n, 'state', 7))).* FROM weft.job j, {n} n WHERE j.batch_id = {batch};
INSERT INTO weft.failure_cause SELECT {batch} + n, n, {t}, 1, 1, NULL, 'x', 1, n % 2,
  clock_timestamp() FROM {n} n;
INSERT INTO weft.dead_letter SELECT {batch} + n, 1, {t}, n, clock_timestamp(), n % 2 = 1 FROM
  {n} n;
INSERT INTO weft.job_group (batch_id, group_id, tenant_id, parent_id, name, path, depth,
  created_at) SELECT {batch}, n, {t}, CASE WHEN n IN (1, {most}) THEN 0 ELSE 1 END, 'g', '/g'
  || n, 1, clock_timestamp() FROM {n} n;
INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id) SELECT {batch}, n,
  a, {t} FROM {n} n, unnest(ARRAY[0, 1, n]) a ON CONFLICT DO NOTHING
"""
EMPTY = "TRUNCATE weft.user_count, weft.user_share, weft.pool_load, weft.queue_count"
OWNED = (
    "SELECT 'TRUNCATE weft.machine_sum, weft.pool_load, weft.pool_cost, weft.machine, ' "
    "|| string_agg(DISTINCT 'weft.' || c.relname, ', ') || ' CASCADE' FROM pg_class c "
    "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('tenant_id', 'batch_id') "
    "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'"
)
"""The statement that leaves nothing which the audit could find wrong."""


async def _read(connection: asyncpg.Connection, function: str, **arguments: Any) -> Any:  # noqa: ANN401 (rows)
    """Call a function; return its rows, and the most that it read of a table or an index."""
    async with connection.transaction():
        before = dict(map(tuple, await connection.fetch(READ)))
        rows = [row[0] for row in await call_on(connection, function, **arguments)]
        after = {row[0]: row[1] - before.get(row[0], 0) for row in await connection.fetch(READ)}
    return rows, {name: n for name, n in after.items() if n > 2 * PAGE}


def _calls(tenant: int, user: int | None, pool: str, batch: int) -> list[tuple[str, int, Any]]:
    """Return what pages call, and how many rows it may read."""
    of_tenant = {"tenant_id": tenant}
    report = {
        **of_tenant,
        "of_user_id": user,
        "of_project": None,
        "attribute": None,
        "since": date(2026, 5, 2),
        "until": TODAY,
        "rows_max": 9,
        "projects_max": 9,
        "after": None,
        "limit_rows": PAGE,
    }
    projects = {
        **of_tenant,
        "of_user_id": user,
        "of_name": None,
        "of_names": None,
        "after_name": None,
        "limit_rows": PAGE,
        "members_max": PAGE,
    }
    shares = {"of_pool": pool, "of_user_id": None, "after_load": 2.0, "after_user": 9}
    letters = {
        "of_batch_id": None,
        "of_cause_id": None,
        "of_reason": None,
        "of_acknowledged": False,
        "after_batch": None,
        "after_cause": None,
        "after_job": None,
    }
    row_of_days = PAGE * DAYS
    return [
        ("overview_counts", 1000, of_tenant),  # conditions
        ("list_minutes", 0, of_tenant),
        ("sum_workers", 0, {"pools_of_tenant_id": tenant, "limit_rows": PAGE}),
        ("billing_report", row_of_days + 10 * PAGE, {**report, "by": "project"}),
        ("billing_report", row_of_days + 10 * PAGE, {**report, "by": "user"}),
        ("billing_report", 0, {**report, "by": "day"}),
        ("billing_report", 0, {**report, "by": "resource"}),
        ("billing_report", 0, {**report, "by": "day", "of_project": "DEFAULT"}),
        ("list_projects", PAGE * PAGE + 9, projects),
        ("list_projects", 0, {**projects, "of_name": "default"}),
        ("list_projects", PAGE * PAGE + 9, {**projects, "of_names": ["default", "p7"]}),
        (
            "list_project_days",
            0,
            {
                **of_tenant,
                "of_user_id": user,
                "of_name": "default",
                "before": TODAY,
                "limit_rows": PAGE,
            },
        ),
        ("list_queues", 0, {**of_tenant, "with_counts": True, "below": 900, "limit_rows": PAGE}),
        ("list_queues", 0, {**of_tenant, "with_counts": True, "below": 2, "limit_rows": PAGE}),
        ("list_shares", 0, {**of_tenant, **shares, "limit_rows": PAGE}),
        ("list_shares", 0, {**of_tenant, **shares, "after_load": None, "limit_rows": PAGE}),
        ("list_shares", 0, {**of_tenant, **shares, "of_user_id": 9, "limit_rows": PAGE}),
        ("list_pool_costs", 0, {"pools_of_tenant_id": 1, "of_pool": pool, "limit_days": PAGE}),
        ("list_pool_changes", 0, {"pools_of_tenant_id": 1, "of_pool": pool, "limit_rows": PAGE}),
        (
            "list_pools",
            0,
            {"of_tenant_id": tenant, "of_name": pool, "after_name": None, "limit_rows": PAGE},
        ),
        ("list_dead_letters", 5 * PAGE, {**of_tenant, **letters, "limit_rows": PAGE}),
        (
            "list_child_groups",
            5 * PAGE,
            {**of_tenant, "batch_id": batch, "of_group_id": 0, "after": 0, "limit_rows": PAGE},
        ),
    ]


@pytest.mark.heavy
async def test_what_pages_add_up_was_folded(own_world: World, analyse: Analyse) -> None:
    """For an operator, and for a member of one project."""
    world, fetch = own_world, own_world.admin.fetchval
    batch, tenant = await world.submit(1), world.caller.tenant_id
    await world.fold()
    values = {
        "t": tenant,
        "n": f"generate_series(1, {N})",
        "days": DAYS,
        "most": N,
        "batch": batch,
        "default": await fetch("SELECT project_id FROM weft.billing_project"),
        "pool": await fetch("SELECT pool_id FROM weft.pool WHERE name = $1", world.pool),
        "shape": await fetch("SELECT max(shape_id) FROM weft.shape"),
    }
    await world.admin.execute(f"{EMPTY}; {FILL.format(**values)}")
    await add_up_usage(world.admin, date(2026, 5, 1))
    await analyse()
    connection = await world.connect("weft_api")
    over, answers = {}, {}
    for user in (None, world.caller.user_id):
        await connection.execute("SELECT set_config('weft.user', $1, false)", str(user or ""))
        for function, most, arguments in _calls(tenant, user, world.pool, batch):
            rows, read = await _read(connection, function, **arguments)
            answers[function, user] = rows
            of = arguments.get("by") or arguments.get("of_name")
            over[function, of, user] = {
                name: n for name, n in read.items() if n > max(most, 6 * PAGE)
            }
    await world.admin.execute(await fetch(OWNED))

    assert {call: read for call, read in over.items() if read} == {}
    assert [call for call, rows in answers.items() if not rows] == []
    assert answers["overview_counts", None][0]["running"] == N
    assert answers["sum_workers", None][0]["cpu_used"] == N
    assert answers["list_pools", None][0]["machines"] == {"active": N}
    assert len(answers["list_dead_letters", None]) == PAGE
    assert [one["group_id"] for one in answers["list_child_groups", None]] == [1, N]


async def test_fold_reads_each_change_once(own_world: World, worker: Worker) -> None:
    """It adds them up first, and counts from those few sums what has a sum of its own."""
    for _ in range(PAGE):
        await own_world.submit(2)
        await worker.run(1)
    epoch = await own_world.lead()
    n = await own_world.admin.fetchval("SELECT count(*) FROM weft.job_delta")
    (row,), found = await read_by_call(
        own_world, "weft_driver", ["job_delta"], "fold_deltas", epoch=epoch
    )

    assert row["n_deltas"] == n
    assert n >= 3 * PAGE
    assert found["job_delta"].rows_scanned + found["job_delta"].rows_by_index == n


async def test_fold_of_many_groups_reads_their_shape_a_few_times(own_world: World) -> None:
    """Each job has a group of its own: what is kept by batch is counted from sums without groups,
    what is kept by group from those with them.
    """
    numbers = range(1, PAGE + 1)
    batch = await own_world.submit(
        job_rows(PAGE, group=list(numbers)),
        groups=[NewGroup(group_id=number, name=f"g{number}") for number in numbers],
    )
    await (await own_world.worker()).run(PAGE)
    epoch = await own_world.lead()
    _, found = await read_by_call(own_world, "weft_driver", ["shape"], "fold_deltas", epoch=epoch)

    assert found["shape"].rows_scanned + found["shape"].rows_by_index < PAGE
    sums = await own_world.admin.fetch(
        "SELECT group_id FROM weft.group_usage WHERE batch_id = $1 ORDER BY 1", batch
    )
    assert [number for (number,) in sums] == [0, *numbers]
