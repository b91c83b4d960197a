"""Counts of jobs by owner and billing project, from which an overview is read."""

import random
from dataclasses import replace

import pytest

from plans.test_plans import reads
from store.test_sight import get, grant, join, leave
from store.world import World
from weft.core.access.rights import Permission, UserRole
from weft.core.states import JobState

CHECK = "users_are_counted"
STATES = (JobState.PENDING, JobState.READY, JobState.RUNNING, JobState.BLOCKED)


@pytest.mark.parametrize("folds", [True, False])
async def test_overview_counts_the_jobs_of_all_batches_that_one_sees(
    own_world: World, *, folds: bool
) -> None:
    """One's own, those of one's projects and those that are shared, each of them once."""
    world, chance = own_world, random.Random(7)  # noqa: S311 (a test)
    await world.fold()
    members = [world.caller, await world.user("bob"), await world.user("cyd")]
    projects = await world.admin.fetch(
        "INSERT INTO weft.billing_project (tenant_id, name) SELECT $1, x "
        "FROM unnest('{p,q}'::text[]) x RETURNING project_id", world.caller.tenant_id
    )  # fmt: skip
    for one in members:
        for project in projects:
            await join(world, one, project["project_id"])
    batches = [
        await world.submit(1 << n, caller=chance.choice(members), billing_project=name)
        for n, name in enumerate("ppqqpqp")
    ]
    worker, (ended, *running) = await world.claim()
    await worker.start(ended, *running)
    await worker.end(ended)
    callers = [await leave(world, one) for one in members]
    await join(world, callers[1], projects[0]["project_id"])
    for one in callers[1:]:
        for batch in batches[::2]:
            await grant(world, one, batch, Permission.READ)
        for batch in batches:  # of single jobs, which tell nothing of their batch
            await world.admin.execute(
                "INSERT INTO weft.batch_grant SELECT $1, $2, $3, 1, 'ada', clock_timestamp(), 1",
                batch, one.user_id, one.tenant_id,
            )  # fmt: skip
    if folds:
        await world.fold()

    for one in [*callers, replace(world.caller, role=UserRole.OPERATOR)]:
        seen = [batch for batch in batches if await get(world, one, batch)]
        states = await world.admin.fetch(
            "SELECT state FROM weft.job WHERE batch_id = ANY ($1)", seen
        )
        overview = await world.api.overview(one)
        for state in STATES:
            expected = sum(row["state"] == state for row in states)
            assert overview[state.word] == expected, state
        assert seen
    assert CHECK not in await world.findings()


async def test_overview_reads_no_batches(own_world: World) -> None:
    for _ in range(40):
        await own_world.submit(1)
    await own_world.fold()
    connection = await own_world.connect()
    async with reads(connection, "group_count", "batch") as read:
        await connection.fetch(
            "SELECT weft.overview(tenant_id => $1, pools_of_tenant_id => $1)",
            own_world.caller.tenant_id,
        )
        await connection.fetch(
            "SELECT weft.list_minutes(tenant_id => $1)", own_world.caller.tenant_id
        )
    for table in read.values():
        assert table.rows_scanned + table.rows_by_index == 0
