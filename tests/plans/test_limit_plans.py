"""What limits cost whoever submits, and the driver, when there are many of them."""

import pytest

from plans.test_driver_plans import read_by
from plans.test_plans import reads
from store.test_limits import limit, user
from store.test_spending import ENOUGH
from store.world import World
from weft.core.billing.spending import Measure
from weft.ports.store.queries import Limited

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
