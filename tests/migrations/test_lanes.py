"""What waits when lanes come: each kind of waiting job, also of shapes that ask for much."""

from collections.abc import AsyncIterator, Mapping, Sequence

import asyncpg
import pytest

from migrations.older_schema import older_schema
from weft.store import open_admin

pytestmark = pytest.mark.heavy  # a migration that was released does not change any more
_ROWS = """
    -- Shapes: 1 plain, 2 a gpu, 3 storage, 4 a licence, 5 both a gpu and storage.
    INSERT INTO weft.shape (cpu_m, memory_mib, storage_mib, gpu, countables)
    VALUES (100, 1, 0, 0, '{}'), (100, 1, 0, 1, '{}'), (100, 1, 50, 0, '{}'),
           (100, 1, 0, 0, '{"matlab": 1}'), (100, 1, 50, 1, '{}');
    -- Workers: 1 has two gpus and storage, 2 has neither, 3 has 20 gpus, 4 is gone.
    INSERT INTO weft.worker (pool_id, name, host)
    SELECT 1, 'w' || n, 'h' FROM generate_series(1, 4) n;
    INSERT INTO weft.worker_incarnation (worker_id, pool_id, name, version, cpu_m, memory_mib,
        storage_mib, gpu, registered_at, heartbeat_at, ended_at)
    SELECT n, 1, 'w' || n, '', 10000, 1000, CASE WHEN n = 2 THEN 0 ELSE 1000 END,
           (ARRAY[2, 0, 20, 2])[n], now(), now(), CASE WHEN n = 4 THEN now() END
    FROM generate_series(1, 4) n;
    -- Batches: 1 waits, 2 is held, 3 is limited, 4 is not committed yet.
    INSERT INTO weft.batch (tenant_id, user_id, project_id, queue_id, max_running, trace_id,
                            created_at, next_job, has_edges)
    SELECT 1, 1, 1, 1, CASE WHEN n = 3 THEN 1 END, '', now(), 11, true
    FROM generate_series(1, 4) n;
    INSERT INTO weft.job_group (batch_id, group_id, tenant_id, name, path, depth, created_at)
    SELECT b, 0, 1, '', '/', 0, now() FROM generate_series(1, 4) b;
    INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
    SELECT b, 0, 0, 1 FROM generate_series(1, 4) b;
    INSERT INTO weft.batch_update (batch_id, update_id, tenant_id, user_id, first_job, n_jobs,
                                   first_group, n_groups, trace_id, created_at, committed_at)
    SELECT b, 1, 1, 1, 1, 10, 1, 0, '', now(), CASE WHEN b < 4 THEN now() END
    FROM generate_series(1, 4) b;
    -- Jobs 1 to 5 are in a range and 6 to 10 listed, one of each shape.
    INSERT INTO weft.job (batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m,
                          memory_mib, spec_first, state, listed, priority, asks_more)
    SELECT b, j, 1, 1, 0, (j - 1) % 5 + 1, 100, 1, 1, CASE WHEN b = 1 AND j = 7 THEN 0 ELSE 1 END,
           j > 5, (j > 5)::int, (j - 1) % 5 > 0
    FROM generate_series(1, 4) b, generate_series(1, 10) j;
    INSERT INTO weft.bunch (batch_id, update_id, first_job, n_jobs, tenant_id, n_ranged, n_listed,
                            has_cross)
    SELECT b, 1, f, 5, 1, (f = 1)::int * 5, (f = 6)::int * 5, false
    FROM generate_series(1, 4) b, unnest(ARRAY[1, 6]) f;
    INSERT INTO weft.bunch_count (batch_id, update_id, first_job, group_id, shape_id, tenant_id,
                                  n_pending, n_ready)
    SELECT b, 1, f, 0, s, 1, 0, 1
    FROM generate_series(1, 4) b, unnest(ARRAY[1, 6]) f, generate_series(1, 5) s;
    INSERT INTO weft.runnable (pool_id, user_id, tenant_id, batch_id, update_id, first_job,
                               last_job, low_job)
    SELECT CASE WHEN b = 2 THEN -1 ELSE 1 END, 1, 1, b, 1, 1, 10, 1 FROM generate_series(1, 3) b;
    INSERT INTO weft.ready_job (pool_id, user_id, rank, batch_id, job_id, tenant_id)
    SELECT CASE WHEN b = 2 THEN -1 ELSE 1 END, 1, -1, b, j, 1
    FROM generate_series(1, 3) b, generate_series(6, 10) j;
    INSERT INTO weft.group_hold (batch_id, group_id, tenant_id, held_at, sweep_job, swept)
    VALUES (2, 0, 1, now(), 10, true);
    -- Batch 1: job 2 runs, and job 7 waits for it.
    UPDATE weft.job SET state = 4, attempt = 1, claimed_at = now(), incarnation_id = 1,
                        rate_card_id = 1
    WHERE batch_id = 1 AND job_id = 2;
    INSERT INTO weft.claim (incarnation_id, batch_id, jobs) VALUES (1, 1, '{2}');
    INSERT INTO weft.edge (batch_id, parent_id, child_id, tenant_id) VALUES (1, 2, 7, 1);
    DELETE FROM weft.ready_job WHERE batch_id = 1 AND job_id = 7;
    UPDATE weft.job SET n_unfinished = 1, listed = false WHERE batch_id = 1 AND job_id = 7;
"""
CHECKS = ("ready_jobs_are_reachable", "workers_serve_their_lanes", "places_are_counted",
          "places_have_jobs", "free_places_are_used", "gate_sets_are_complete")  # fmt: skip
_LANES = """
    SELECT DISTINCT j.shape_id, l.asks - 'executor' AS asks FROM weft.job j
    JOIN weft.lane l USING (lane_id) ORDER BY 1
"""
_SERVED = """
    SELECT w.incarnation_id, array_agg(DISTINCT s.shape_id ORDER BY s.shape_id)
    FROM weft.worker_lane w JOIN weft.shape s USING (lane_id) GROUP BY 1 ORDER BY 1
"""
_CLAIM = """
    SELECT batch_id, job_id FROM weft.claim_jobs($1, 1000000, 1000000, 100) ORDER BY 1, 2
"""


@pytest.fixture
async def owner(empty_database: Mapping[str, str]) -> AsyncIterator[asyncpg.Connection]:
    async with older_schema(empty_database["admin"], "0018_pre_lanes", _ROWS) as connection:
        yield connection


async def findings(dsn: str) -> dict[str, Sequence[Mapping[str, object]]]:
    """Return what the checks of waiting jobs find."""
    async with open_admin(dsn) as admin:
        found = {one.check: one.rows for one in await admin.audit()}
    return {check: found[check] for check in CHECKS if found[check]}


async def claims(owner: asyncpg.Connection, incarnation: int) -> dict[int, list[int]]:
    """Claim all that a worker may have; return jobs by batch."""
    found: dict[int, list[int]] = {}
    for batch, job in await owner.fetch(_CLAIM, incarnation):
        found.setdefault(batch, []).append(job)
    return found


async def test_waiting_jobs_stand_in_their_lanes(
    empty_database: Mapping[str, str], owner: asyncpg.Connection
) -> None:
    dsn = empty_database["admin"]
    async with open_admin(dsn) as admin:
        await admin.migrate()
    lanes = [row["asks"] for row in await owner.fetch(_LANES)]
    served = [tuple(row) for row in await owner.fetch(_SERVED)]
    migrated = await findings(dsn)
    # Two gpus, of which job 2 has one; and of batch 3 one job at a time.
    plain, gpu = await claims(owner, 2), await claims(owner, 1)

    assert lanes == [
        "{}", '{"gpu": 1}', '{"storage_mib": 50}', '{"matlab": 1}',
        '{"gpu": 1, "storage_mib": 50}',
    ]  # fmt: skip
    assert served == [(1, [1, 2, 3, 5]), (2, [1]), (3, [1, 2, 3, 5])]
    assert migrated == {}
    assert plain == {1: [1, 6]}
    assert gpu == {1: [3, 8, 10]}
    assert await findings(dsn) == {}


async def test_jobs_that_were_held_or_not_committed_are_found_later(
    empty_database: Mapping[str, str], owner: asyncpg.Connection
) -> None:
    dsn = empty_database["admin"]
    async with open_admin(dsn) as admin:
        await admin.migrate()
    await owner.execute("SELECT weft.release_group(1, 2, 0, 'ada')")
    epoch = await owner.fetchval("SELECT epoch FROM weft.driver_state")
    while await owner.fetchval("SELECT weft.sweep_holds($1, 100)", epoch):
        pass
    await owner.execute("SELECT weft.commit_update(1, 4, 1)")
    later = await findings(dsn)
    plain, gpu = await claims(owner, 2), await claims(owner, 3)

    assert later == {}
    assert plain == {1: [1, 6], 2: [1, 6], 4: [1, 6]}
    assert gpu == {1: [3, 5, 8, 10], 2: [2, 3, 5, 7, 8, 10], 4: [2, 3, 5, 7, 8, 10]}
