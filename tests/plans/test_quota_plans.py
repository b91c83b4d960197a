"""What quotas cost those who submit."""

import pytest

from plans.test_plans import reads
from store.test_byte_quotas import ONE
from store.world import World
from weft.store.database import call_on

pytestmark = pytest.mark.slow
N_USERS = 5_000
N_JOBS = 10_000
OF_OTHERS = """
    WITH person AS (
        INSERT INTO weft.tenant_user (tenant_id, name) SELECT $1, 'user ' || n FROM generate_series(1, $2::int) n RETURNING *),
    stored AS (
        INSERT INTO weft.user_storage (tenant_id, user_id, n_bytes) SELECT p.tenant_id, p.user_id, 0 FROM person p)
    INSERT INTO weft.quota (tenant_id, user_id, bytes_max, cores_max_m) SELECT p.tenant_id, p.user_id, 5, 5000 FROM person p
"""  # noqa: E501 (SQL)
SUBMITTED = """
    SELECT weft._core_gates($1, NULL, $2), weft._check_bytes($1, (SELECT user_id FROM weft.batch WHERE batch_id = $2), 1)
"""  # noqa: E501 (SQL)


async def test_submission_looks_for_quotas_and_sums_by_key(own_world: World) -> None:
    """Whatever others of the tenant have."""
    world = own_world
    batch = await world.submit(1)
    await world.fold()
    await world.api.set_quota(world.caller, world.caller.user_name, {"bytes": 9 * ONE, "cores": 4})
    await world.api.set_tenant_quota(world.caller, world.pool, {"bytes": 9 * ONE, "cores": 9})
    await world.admin.execute(OF_OTHERS, world.caller.tenant_id, N_USERS)
    await world.admin.execute("VACUUM ANALYZE weft.quota, weft.user_storage, weft.batch")
    async with reads(world.admin, "quota", "user_storage") as found:
        await world.admin.execute(SUBMITTED, world.caller.tenant_id, batch)

    assert [table for table, read in found.items() if read.scans] == []
    assert found["user_storage"].rows_by_index <= 4
    assert found["quota"].rows_by_index <= 20


async def test_step_of_a_first_quota_reads_as_many_jobs_as_it_changes(own_world: World) -> None:
    """However large the batch is, and however many others the tenant has; ended jobs are cheap."""
    world = own_world
    worker = await world.worker()
    batch = await world.submit(N_JOBS)
    await worker.end(*await worker.claim(1000))
    bob = await world.user("bob")
    for _ in range(20):
        await world.submit(1, caller=bob)
    await world.fold()
    await world.admin.execute("VACUUM ANALYZE weft.job, weft.batch, weft.runnable, weft.ready_job")
    await world.api.set_quota(world.caller, world.caller.user_name, {"cores": 4})
    epoch = await world.lead()
    connection = await world.connect("weft_driver")
    for _ in range(3):  # hides ranges, gives gates, passes them
        await call_on(connection, "pass_gates", epoch=epoch, limit_jobs=100)
    async with reads(connection, "job", "ready_job") as found:
        await call_on(connection, "pass_gates", epoch=epoch, limit_jobs=200)

    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 1000 + 20 * 200
    assert (await world.job(batch, 1301))["gate_set_id"] is None
    assert (await world.job(batch, 1300))["gate_set_id"] is not None
    await world.api.set_quota(world.caller, world.caller.user_name, {"cores": None})
