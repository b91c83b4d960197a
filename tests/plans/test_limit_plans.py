"""What limits and quotas cost whoever submits, and the driver."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from builders import job_rows
from plans.table_reads import reads
from plans.test_driver_plans import read_by
from store.batch_steps import add, new_batch, open_update
from store.test_byte_quotas import ONE, stored
from store.test_limits import limit, user
from store.test_spending import ENOUGH
from store.world import World
from weft.core.billing.spending import Measure
from weft.ports.store.queries import Limited
from weft.store.database import call_on
from weft.store.submission import _bunch, job_columns

pytestmark = pytest.mark.slow
N_LIMITS = 5_000
OF_OTHERS = """
    WITH person AS (
        INSERT INTO weft.tenant_user (tenant_id, name) SELECT $1, 'user ' || n FROM generate_series(1, $2::int) n RETURNING *)
    INSERT INTO weft.spend_limit (tenant_id, user_id, amount_max) SELECT p.tenant_id, p.user_id, 5 FROM person p
"""  # noqa: E501 (SQL)
OF_BATCHES = """
    INSERT INTO weft.spend_limit (tenant_id, batch_id, group_id, amount_max, judged_version)
    SELECT $1, c.batch_id, c.group_id, 5, 1 FROM weft.group_count c WHERE c.complete
"""


async def test_submission_looks_for_limits_by_key(own_world: World) -> None:
    """Those of its project and its user, in one statement, whatever others have."""
    batch = await own_world.submit(1)
    await limit(own_world, user(own_world), ENOUGH, Measure.CPU)
    await own_world.admin.execute(OF_OTHERS, own_world.caller.tenant_id, N_LIMITS)
    await own_world.admin.execute("VACUUM ANALYZE weft.spend_limit")
    async with reads(own_world.admin, "spend_limit") as found:
        await own_world.admin.execute("SELECT weft._pause_batch($1, true)", batch)

    assert found["spend_limit"].scans == 0
    assert found["spend_limit"].rows_by_index <= 2  # it is found, and locked


async def test_driver_looks_at_no_sums_of_complete_batches(own_world: World) -> None:
    worker = await own_world.worker()
    for _ in range(50):
        await own_world.submit(1)
    await worker.run()
    await worker.beat()
    await own_world.fold()
    await own_world.admin.execute(OF_BATCHES, own_world.caller.tenant_id)
    await limit(own_world, Limited("project", "default"), ENOUGH)
    epoch = await own_world.lead()
    n_rows, read = await read_by(own_world, "weft_driver", "limit_rounds", epoch=epoch)

    assert n_rows == 1
    assert read["job"] + read["attempt"] == 0


N_USERS = 5_000
N_JOBS = 10_000
QUOTA_OF_OTHERS = """
    WITH person AS (
        INSERT INTO weft.tenant_user (tenant_id, name) SELECT $1, 'user ' || n FROM generate_series(1, $2::int) n RETURNING *),
    stored AS (
        INSERT INTO weft.user_storage (tenant_id, user_id, n_bytes) SELECT p.tenant_id, p.user_id, 0 FROM person p)
    INSERT INTO weft.quota (tenant_id, user_id, bytes_max, cores_max_m) SELECT p.tenant_id, p.user_id, 5, 5000 FROM person p
"""  # noqa: E501 (SQL)
OTHER_EMPTY = """
    WITH tenant AS (INSERT INTO weft.tenant (name) VALUES ('full of empty batches') RETURNING tenant_id)
    INSERT INTO weft.empty_batch (batch_id, tenant_id, created_at) SELECT -n, tenant_id, now() FROM tenant, generate_series(1, 5000) n
"""  # noqa: E501 (SQL)
SUBMITTED = """
    SELECT weft._core_gates($1, NULL, $2), weft._check_bytes($1, (SELECT user_id FROM weft.batch WHERE batch_id = $2), 1)
"""  # noqa: E501 (SQL)


@asynccontextmanager
async def written(connection: asyncpg.Connection) -> AsyncIterator[dict[str, int]]:
    """Run in a transaction and tell how many rows it added to each table."""
    result: dict[str, int] = {}
    async with connection.transaction():
        yield result
        rows = await connection.fetch(
            "SELECT relname, n_tup_ins FROM pg_stat_xact_user_tables "
            "WHERE schemaname = 'weft' AND n_tup_ins > 0"
        )
        result.update({row[0]: row[1] for row in rows})


async def test_submission_looks_for_quotas_and_sums_by_key(own_world: World) -> None:
    """Whatever others of the tenant have."""
    batch = await own_world.submit(1)
    await own_world.fold()
    await own_world.api.set_quota(
        own_world.caller, own_world.caller.user_name, {"bytes": 9 * ONE, "cores": 4}
    )
    await own_world.api.set_tenant_quota(
        own_world.caller, own_world.pool, {"bytes": 9 * ONE, "cores": 9}
    )
    await own_world.admin.execute(QUOTA_OF_OTHERS, own_world.caller.tenant_id, N_USERS)
    await own_world.admin.execute("VACUUM ANALYZE weft.quota, weft.user_storage, weft.batch")
    async with reads(own_world.admin, "quota", "user_storage") as found:
        await own_world.admin.execute(SUBMITTED, own_world.caller.tenant_id, batch)

    assert [table for table, read in found.items() if read.scans] == []
    assert found["user_storage"].rows_by_index <= 4
    assert found["quota"].rows_by_index <= 20


async def test_step_of_a_first_quota_reads_as_many_jobs_as_it_changes(own_world: World) -> None:
    """However large the batch is, and however many others the tenant has; ended jobs are cheap."""
    worker = await own_world.worker()
    batch = await own_world.submit(N_JOBS)
    await worker.end(*await worker.claim(1000))
    bob = await own_world.user("bob")
    for _ in range(20):
        await own_world.submit(1, caller=bob)
    await own_world.fold()
    await own_world.admin.execute(
        "VACUUM ANALYZE weft.job, weft.batch, weft.runnable, weft.ready_job"
    )
    await own_world.api.set_quota(own_world.caller, own_world.caller.user_name, {"cores": 4})
    epoch = await own_world.lead()
    connection = await own_world.connect("weft_driver")
    for _ in range(3):  # hides ranges, gives gates, passes them
        await call_on(connection, "pass_gates", epoch=epoch, limit_jobs=100)
    async with reads(connection, "job", "ready_job") as found:
        await call_on(connection, "pass_gates", epoch=epoch, limit_jobs=200)

    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 1000 + 20 * 200
    assert (await own_world.job(batch, 1301))["gate_set_id"] is None
    assert (await own_world.job(batch, 1300))["gate_set_id"] is not None
    await own_world.api.set_quota(own_world.caller, own_world.caller.user_name, {"cores": None})


async def test_upload_pays_one_row_and_its_commit_reads_no_specs(own_world: World) -> None:
    """Without a quota in the tenant nothing is looked at that quotas are about."""
    batch = await new_batch(own_world)
    update = await open_update(own_world, batch, 20)
    for first in range(1, 20):
        await add(own_world, batch, update, job_rows(1, first_job=first))
    api = await own_world.connect("weft_api")
    async with written(api) as rows, reads(api, "user_storage", "batch_storage") as found:
        last = job_rows(1, first_job=20)
        await call_on(api, "add_jobs", **_bunch(own_world.caller, batch, update.update_id, last))
    committing = {"batch_id": batch, "of_update_id": update.update_id}
    async with reads(api, "job_spec", "bunch") as of_commit:
        await call_on(api, "commit_update", tenant_id=own_world.caller.tenant_id, **committing)

    looked_at = [*found.values(), of_commit["job_spec"]]
    assert rows["job_delta"] == 1
    assert [one.scans + one.index_scans for one in looked_at] == [0, 0, 0]
    assert of_commit["bunch"].scans == 0
    assert await stored(own_world) == 20 * ONE


async def test_submission_of_jobs_notes_no_batch_without_jobs(own_world: World) -> None:
    """Only those that are made without jobs pay for being counted: a row, and its removal."""
    api = await own_world.connect("weft_api")
    submission = {
        "tenant_id": own_world.caller.tenant_id,
        "user_id": own_world.caller.user_id,
        "batch": {"billing_project": "default", "attributes": {}, "gates": []},
        "trace_id": "",
        "idempotency_key": None,
        "digest": b"",
    }
    async with written(api) as of_jobs:
        await call_on(
            api,
            "submit",
            **submission,
            of_batch_id=None,
            groups=None,
            new_jobs=1,
            jobs=job_columns(job_rows(1)),
            depth_max=9,
            groups_max=9,
        )
    async with written(api) as of_none:
        await call_on(api, "create_batch", **submission)

    assert "empty_batch" not in of_jobs
    assert of_none["empty_batch"] == 1


async def test_check_reads_the_empty_batches_of_its_tenant_alone(own_world: World) -> None:
    await own_world.admin.execute(OTHER_EMPTY)
    await own_world.admin.execute("VACUUM ANALYZE weft.empty_batch")
    await new_batch(own_world)
    async with reads(own_world.admin, "empty_batch") as found:
        await own_world.admin.fetch(
            "SELECT * FROM weft._open_work($1)", own_world.caller.tenant_id
        )

    assert found["empty_batch"].scans == 0
    assert found["empty_batch"].rows_by_index <= 1
