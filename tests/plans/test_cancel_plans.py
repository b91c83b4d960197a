"""What the sweep reads of cancels that are not swept yet."""

import pytest

from builders import job_rows
from plans.test_plans import read_by_call
from store.world import World
from weft.ports.store import NewGroup

pytestmark = pytest.mark.slow
N_GROUPS = 2_000


async def test_sweep_reads_the_oldest_cancels_of_each_user(own_world: World) -> None:
    """However many groups a user has cancelled, and however many jobs are in them."""
    groups = [
        NewGroup(group_id=number, parent_id=0, name=str(number))
        for number in range(1, N_GROUPS + 1)
    ]
    rows = job_rows(2 * N_GROUPS, group=[1 + number // 2 for number in range(2 * N_GROUPS)])
    large = await own_world.submit(rows, groups=groups)
    await own_world.admin.execute(
        "INSERT INTO weft.group_cancel "
        "(batch_id, group_id, tenant_id, user_id, cancelled_at, actor, force) "
        "SELECT batch_id, g, tenant_id, user_id, clock_timestamp(), 'x', false "
        "FROM weft.batch, generate_series(1, $2::int) g WHERE batch_id = $1",
        large, N_GROUPS,
    )  # fmt: skip
    bob = await own_world.user("bob")
    small = await own_world.submit(10, caller=bob)
    await own_world.api.cancel_group(bob, small, 0, force=False)
    epoch = await own_world.lead()
    _, found = await read_by_call(
        own_world, "weft_driver", ["group_cancel", "job", "batch"], "sweep_cancelled", epoch=epoch,
        limit_jobs=100,
    )  # fmt: skip

    assert await own_world.states(small) == "c" * 10
    assert [table for table, read in found.items() if read.scans] == []
    assert found["group_cancel"].rows_by_index < 500
    assert found["job"].rows_by_index < 2_000
