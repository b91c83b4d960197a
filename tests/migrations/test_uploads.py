"""What was sent, or made, before the upgrade counts in quotas as what comes after it."""

from collections.abc import Mapping

from migrations.older_schema import older_schema
from weft.store import open_admin

_ROWS = """
    -- Batches: 1 has a committed update and an open one, 2 an open one, 3 to 6 have no jobs: 4 is
    -- two days old, 5 is deleted, 6 has groups.
    INSERT INTO weft.batch (tenant_id, user_id, project_id, queue_id, trace_id, created_at,
                            deleted_at, bytes_counted)
    SELECT 1, 1, 1, 1, '', now() - CASE WHEN n = 4 THEN interval '2 days' ELSE '1 hour' END,
           CASE WHEN n = 5 THEN now() END, true
    FROM generate_series(1, 6) n;
    INSERT INTO weft.job_group (batch_id, group_id, tenant_id, name, path, depth, created_at)
    SELECT n, 0, 1, '', '/', 0, now() FROM generate_series(1, 6) n;
    INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
    SELECT n, 0, 0, 1 FROM generate_series(1, 6) n;
    INSERT INTO weft.batch_update (batch_id, update_id, tenant_id, user_id, first_job, n_jobs,
                                   first_group, n_groups, trace_id, created_at, committed_at)
    VALUES (1, 1, 1, 1, 1, 1, 1, 0, '', now(), now()), (1, 2, 1, 1, 2, 3, 1, 0, '', now(), NULL),
           (2, 1, 1, 1, 1, 2, 1, 0, '', now(), NULL), (6, 1, 1, 1, 1, 0, 1, 1, '', now(), now());
    INSERT INTO weft.lane (asks, amounts) VALUES ('{}', '{}');
    INSERT INTO weft.shape (cpu_m, memory_mib, storage_mib, gpu, lane_id) VALUES (100, 1, 0, 0, 1);
    INSERT INTO weft.job (batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m,
                          memory_mib, lane_id, spec_first, state)
    VALUES (1, 1, 1, 1, 0, 1, 100, 1, 1, 1, 1), (1, 2, 1, 2, 0, 1, 100, 1, 1, 2, 1),
           (1, 3, 1, 2, 0, 1, 100, 1, 1, 2, 1), (1, 4, 1, 2, 0, 1, 100, 1, 1, 4, 1),
           (2, 1, 1, 1, 0, 1, 100, 1, 1, 1, 1);
    INSERT INTO weft.job_spec (batch_id, first_job, tenant_id, n_jobs, body)
    VALUES (1, 1, 1, 1, '1'), (1, 2, 1, 2, '20'), (1, 4, 1, 1, '300'), (2, 1, 1, 1, '4000');
    INSERT INTO weft.bunch (batch_id, update_id, first_job, n_jobs, tenant_id, n_ranged, n_listed,
                            has_cross, lane_firsts, lane_ids)
    SELECT b, u, f, n, 1, n, 0, false, ARRAY[f], '{1}'
    FROM (VALUES (1, 1, 1, 1), (1, 2, 2, 2), (1, 2, 4, 1), (2, 1, 1, 1)) x (b, u, f, n);
    INSERT INTO weft.bunch_count (batch_id, update_id, first_job, group_id, shape_id, tenant_id,
                                  n_pending, n_ready)
    VALUES (1, 1, 1, 0, 1, 1, 0, 1), (1, 2, 2, 0, 1, 1, 0, 2), (1, 2, 4, 0, 1, 1, 0, 1),
           (2, 1, 1, 0, 1, 1, 0, 1);
    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready,
                                stored_bytes)
    VALUES (1, 1, 0, 1, 1, 1, 1);
"""
_STORED = "SELECT n_bytes FROM weft._stored_bytes(1) WHERE user_id = 1"
_OPEN = "SELECT batch_id, n_jobs FROM weft._open_work(1) ORDER BY 1"


async def test_what_was_sent_or_made_before_counts_once(empty_database: Mapping[str, str]) -> None:
    """Also where a run before it ended when it had counted: a commit adds nothing more."""
    dsn = empty_database["admin"]
    async with older_schema(dsn, "0107_pre_uploads", _ROWS) as owner, open_admin(dsn) as admin:
        await admin.migrate()
        found = {one.check: one.rows for one in await admin.audit()}
        stored, batches = await owner.fetchval(_STORED), await owner.fetch(_OPEN)
        await owner.execute("UPDATE weft.schema_range SET schema = 100")
        await admin.migrate()
        again = await owner.fetchval(_STORED)
        await owner.execute("SELECT weft.commit_update(1, 1, 2)")
        committed = await owner.fetchval(_STORED)
        of_jobs = await owner.fetch(_OPEN)

    assert not found["stored_bytes_are_counted"]
    assert not found["empty_batches_have_no_jobs"]
    assert stored == again == committed == 1 + 2 + 3 + 4
    assert [tuple(row) for row in batches] == [(1, 1), (2, 0), (3, 0), (6, 0)]
    assert [tuple(row) for row in of_jobs] == [(1, 4), (2, 0), (3, 0), (6, 0)]
