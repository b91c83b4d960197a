"""What the release before counted while the tables changed is in all sums when that has ended."""

from collections.abc import Mapping

import pytest

from migrations.older_schema import older_schema
from weft.store import open_admin

_ROWS = """
    INSERT INTO weft.shape (cpu_m, memory_mib, storage_mib, gpu) VALUES (100, 1, 0, 0);
    INSERT INTO weft.project_usage (project_id, usage_on, rate_card_id, shape_id, tenant_id,
                                    usage_ms)
    SELECT 1, (now() AT TIME ZONE 'UTC')::date - 4, 1, 1, 1, 1000;
    INSERT INTO weft.user_usage (project_id, user_id, usage_on, rate_card_id, shape_id, tenant_id,
                                 usage_ms)
    SELECT 1, 1, (now() AT TIME ZONE 'UTC')::date - 4, 1, 1, 1, 1000;
    UPDATE weft.migration SET applied_at = applied_at - interval '4 days';
    INSERT INTO weft.batch (tenant_id, user_id, project_id, queue_id, trace_id, created_at)
    SELECT 1, 1, 1, 1, '', now() FROM generate_series(1, 2);
    INSERT INTO weft.group_count (batch_id, group_id, tenant_id, n_ready, n_running)
    VALUES (1, 0, 1, 3, 2);
    INSERT INTO weft.user_count VALUES (1, 1, 1, 0, 3, 0, 0, 2, 0);
    UPDATE weft.user_share SET running_m = 200;
    INSERT INTO weft.operation (batch_id, tenant_id, user_id, kind, trace_id, created_at)
    SELECT n, 1, 1, 'cancel', '', now() FROM generate_series(1, 2) n;
    UPDATE weft.operation SET owner_id = NULL, project_id = NULL WHERE batch_id = 1;
    DELETE FROM weft.batch WHERE batch_id = 2;
    INSERT INTO weft.condition (tenant_id, kind, tester, parameters, digest, since, next_test_at)
    VALUES (1, 'quota', 'tcp', '{}', '', now(), now());
    INSERT INTO weft.blocked_job (batch_id, job_id, tenant_id, blocked_at, next_at, condition_id)
    VALUES (1, 1, 1, now(), now(), 1);
"""
_BEHIND = """
    TRUNCATE weft.usage_sum, weft.user_count, weft.condition_batch;
    UPDATE weft.schema_range SET schema = 100
"""
CHECKS = ("usage_by_resource_equals_usage", "users_are_counted", "loads_of_pools_are_counted",
          "owners_are_noted", "conditions_note_their_batches")  # fmt: skip


@pytest.mark.heavy
async def test_what_was_counted_meanwhile_is_in_the_sums(
    empty_database: Mapping[str, str],
) -> None:
    """Also where the attempt before ended when it had installed the functions."""
    dsn = empty_database["admin"]
    async with older_schema(dsn, "0097_pre_sums_of_tenants", _ROWS) as owner:
        async with open_admin(dsn) as admin:
            assert "0097_pre_sums_of_tenants" in await admin.migrate()
            first = {one.check: one.rows for one in await admin.audit()}
            await owner.execute(_BEHIND)
            assert await admin.migrate() == []
            second = {one.check: one.rows for one in await admin.audit()}
        users = await owner.fetch(
            "SELECT user_id, project_id, n_ready, n_running FROM weft.user_count ORDER BY 1, 2"
        )
        waiting = await owner.fetch("SELECT queue, n_waiting, n_running FROM weft.queue_count")
        load = await owner.fetch("SELECT pool_id, running_m FROM weft.pool_load")
        used = await owner.fetchval("SELECT sum(cpu) FROM weft.usage_sum WHERE user_id = 1")

    for found in (first, second):
        assert {check: found[check] for check in CHECKS if found[check]} == {}
    assert [tuple(row) for row in users] == [(0, 0, 3, 2), (0, 1, 3, 2), (1, 1, 3, 2)]
    assert [tuple(row) for row in waiting] == [("default", 3, 2)]
    assert [tuple(row) for row in load] == [(1, 200)]
    assert used == 2 * 100 * 1000
