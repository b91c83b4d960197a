"""What stands in the queue when gates come: parked jobs, and batches with max_running."""

from collections.abc import AsyncIterator, Mapping

import asyncpg
import pytest

from migrations.older_schema import older_schema
from weft.store import open_admin

pytestmark = pytest.mark.heavy  # a migration that was released does not change any more
_ROWS = """
    INSERT INTO weft.batch (tenant_id, user_id, project_id, queue_id, max_running, trace_id,
                            created_at, next_job)
    SELECT 1, 1, 1, 1, n, '', now(), 6 FROM unnest(ARRAY[2, NULL]) n;
    INSERT INTO weft.job_group (batch_id, group_id, tenant_id, name, path, depth, created_at)
    SELECT b, 0, 1, '', '/', 0, now() FROM generate_series(1, 2) b;
    INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
    SELECT b, 0, 0, 1 FROM generate_series(1, 2) b;
    INSERT INTO weft.batch_update (batch_id, update_id, tenant_id, user_id, first_job, n_jobs,
                                   first_group, n_groups, trace_id, created_at, committed_at)
    SELECT b, 1, 1, 1, 1, 5, 1, 0, '', now(), now() FROM generate_series(1, 2) b;
    INSERT INTO weft.job (batch_id, job_id, tenant_id, update_id, group_id, shape_id, cpu_m,
                          memory_mib, spec_first, state, listed, claimed_at)
    SELECT b, j, 1, 1, 0, 1, 1, 1, 1, CASE WHEN b = 1 AND j = 1 THEN 4 ELSE 1 END,
           b = 2 OR j = 5, CASE WHEN b = 1 AND j = 1 THEN now() END
    FROM generate_series(1, 2) b, generate_series(1, 5) j;
    INSERT INTO weft.claim (incarnation_id, batch_id, jobs) VALUES (1, 1, '{1, 1}');
    INSERT INTO weft.runnable (pool_id, user_id, tenant_id, batch_id, update_id, first_job,
                               last_job, low_job)
    VALUES (1, 1, 1, 1, 1, 1, 5, 1);
    INSERT INTO weft.job_hold (batch_id, job_id, tenant_id, held_at)
    SELECT 2, j, 1, now() FROM generate_series(1, 5) j;
    INSERT INTO weft.ready_job (pool_id, user_id, rank, batch_id, job_id, tenant_id)
    SELECT -1, 1, 0, 2, j, 1 FROM generate_series(1, 5) j UNION ALL SELECT 1, 1, 0, 1, 5, 1;
"""
CHECKS = ("places_are_counted", "places_have_jobs", "ready_jobs_are_reachable",
          "free_places_are_used")  # fmt: skip


@pytest.fixture
async def owner(empty_database: Mapping[str, str]) -> AsyncIterator[asyncpg.Connection]:
    async with older_schema(empty_database["admin"], "0021_pre_gates", _ROWS) as connection:
        yield connection


async def test_queue_stands_before_its_gates(
    empty_database: Mapping[str, str], owner: asyncpg.Connection
) -> None:
    async with open_admin(empty_database["admin"]) as admin:
        await admin.migrate()
        findings = {one.check: one.rows for one in await admin.audit()}
    places = await owner.fetch("SELECT batch_id, job_id FROM weft.place")
    sets = await owner.fetch(
        "SELECT batch_id, array_agg(DISTINCT gate_set_id = 1) AS parked FROM weft.ready_job "
        "GROUP BY 1 ORDER BY 1"
    )

    assert [findings[check] for check in CHECKS] == [()] * len(CHECKS)
    assert [tuple(row) for row in places] == [(1, 1)]
    assert [tuple(row) for row in sets] == [(1, [False]), (2, [True])]

    moved = await owner.fetchval(
        "SELECT weft._pass_gates((SELECT array_agg(gate_id) FROM weft.gate_note), true)"
    )

    assert moved == 1
