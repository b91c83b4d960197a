"""A page of batches reads a page, whoever asks and however few of all batches they see."""

import pytest

from plans.conftest import Analyse
from plans.table_reads import reads
from store.grants import grant, leave, project_of
from store.world import World
from weft.core.access.rights import Permission

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
N_BATCHES = 20_000
SHARE = 10_000
"""One batch in this number of batches is seen."""
TABLES = ("batch", "batch_grant", "billing_member")
_FILL = """
    INSERT INTO weft.batch OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(b, jsonb_build_object('batch_id', b.batch_id + n,
        'user_id', CASE WHEN n % $2 = 0 THEN $3 ELSE b.user_id END,
        'project_id', CASE WHEN n % $2 = 1 THEN $4 ELSE b.project_id END))).*
    FROM weft.batch b, generate_series(1, $5::int) n WHERE b.batch_id = $1
"""
_GRANT_JOBS = """
    INSERT INTO weft.batch_grant (batch_id, job_id, user_id, tenant_id, permission, granted_by,
        granted_at)
    SELECT $1::bigint + n, 1, $2, $3, 1, 'user ann', now() FROM generate_series(1, $4::int) n
"""


async def test_page_of_who_sees_few_batches(own_world: World, analyse: Analyse) -> None:
    bob = await leave(own_world, await own_world.user("bob"))
    project = await project_of(own_world, "p", bob)
    first = await own_world.submit()
    await own_world.admin.execute(_FILL, first, SHARE, bob.user_id, project, N_BATCHES)
    for batch in (first + 2, first + N_BATCHES // 2 + 2):
        await grant(own_world, bob, batch, Permission.READ)
    # Single jobs of all others were granted, too, which makes none of them a batch that bob sees.
    await own_world.admin.execute(_GRANT_JOBS, first, bob.user_id, bob.tenant_id, N_BATCHES)
    await analyse()
    connection = await own_world.connect()
    read, seen = {}, {}
    for name, caller in (("few", bob), ("many", own_world.caller)):
        async with reads(connection, *TABLES) as found:
            await connection.execute("SET LOCAL ROLE weft_tenant")
            await connection.execute(
                "SELECT set_config('weft.tenant', $1, true)", str(bob.tenant_id)
            )
            seen[name] = await connection.fetch(
                "SELECT * FROM weft._visible_batches($1, $2, 50, false)", caller.user_id, 2**62
            )
        read[name] = found
    async with reads(connection, *TABLES) as found:
        await connection.fetch(
            "SELECT * FROM weft.list_shared_jobs(tenant_id => $1, of_user_id => $2, "
            "before_batch => $3, before_job => 1, limit_rows => 50)",
            bob.tenant_id,
            bob.user_id,
            first + N_BATCHES // 2,
        )
    read["jobs"] = found

    assert [row[0] - first for row in seen["few"]] == [20_000, 10_002, 10_001, 10_000, 2, 1]
    assert len(seen["many"]) == 50
    assert read["jobs"]["batch_grant"].rows_by_index >= 50
    for one in read.values():
        assert [table.rows_scanned for table in one.values()] == [0, 0, 0]
        assert sum(table.rows_by_index for table in one.values()) < 300, one
