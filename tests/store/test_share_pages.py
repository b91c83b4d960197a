"""Pages show who runs jobs in a pool and who waits, and counts for an overview."""

import random
from dataclasses import replace

import pytest

from builders import job_rows
from plans.table_reads import reads
from store.barriers import hold, hold_and_park
from store.grants import grant, join, leave, project_of
from store.test_visibility import get
from store.world import World
from weft.core.access.rights import Permission, UserRole
from weft.core.states import JobState
from weft.ports.store import Shape, ShareKey

CHECK = "loads_of_pools_are_counted"


async def test_pages_have_everybody_once_and_who_only_runs_jobs_last(own_world: World) -> None:
    """The first ones are served next."""
    names = ["bob", "cyd", "dan"]
    users = [own_world.caller, *[await own_world.user(name) for name in names]]
    worker = await own_world.worker()
    await own_world.submit(1, caller=users[1])
    await worker.claim()
    for user in (users[0], *users[2:]):
        await own_world.submit(3, caller=user)
    await worker.claim(2)
    await own_world.fold()
    boss = replace(own_world.caller, role=UserRole.OPERATOR)
    whole = await own_world.api.list_shares(boss, own_world.pool, limit=9)
    found: list[str] = []
    key = None
    while rows := await own_world.api.list_shares(boss, own_world.pool, limit=1, after=key):
        (row,) = rows
        found.append(row["user"])
        key = ShareKey(row["load"], row["user_id"])
    (own,) = await own_world.api.list_shares(users[2], own_world.pool, limit=9, only_own=True)
    everybody = await own_world.api.list_shares(users[2], own_world.pool, limit=9)

    assert [row["user"] for row in whole] == found
    assert sorted(found) == ["ada", "bob", "cyd", "dan"]
    assert (whole[-1]["user"], whole[-1]["load"], whole[-1]["n_ready"]) == ("bob", None, 0)
    loads = [row["load"] for row in whole[:-1]]
    assert loads == sorted(loads)
    assert own["user"] == "cyd"
    assert sorted(row["user"] or "" for row in everybody) == ["", "", "", "cyd"]
    assert (await own_world.api.sum_workers(boss, limit=9))["cpu_used"] == 3


async def test_those_whose_jobs_cannot_run_come_before_nobody(own_world: World) -> None:
    """Of a user who runs less and whose jobs are all held, `weft why` does not speak."""
    bob = await own_world.user("bob")
    worker = await own_world.worker(cpu_m=1000)
    mine = await own_world.submit(2)
    await worker.claim(1)
    theirs = await own_world.submit(1, caller=bob)
    await own_world.fold()

    async def is_ahead() -> bool:
        facts = await own_world.api.why_job(own_world.caller, mine, 2)
        return facts.pool is not None and facts.pool.ahead

    assert await is_ahead()
    await hold_and_park(own_world, theirs)
    await own_world.fold()
    assert not await is_ahead()


async def test_only_jobs_that_can_be_claimed_count_as_ready(world: World) -> None:
    """Not those that are held, or that wait for a date or a place; nor do their cores."""
    await world.worker()
    await world.submit(job_rows(3, shapes=[Shape(cpu_m=2000)]))
    await world.submit(job_rows(5, priority=1))
    await world.submit(8, max_running=2)
    await hold(world, await world.submit(10))
    await hold_and_park(world, await world.submit(job_rows(10, priority=1)))
    await world.fold()

    (row,) = await world.api.list_shares(world.caller, world.pool, limit=10)

    assert (row["n_ready"], row["ready_m"]) == (10, 13_000)


async def test_of_many_all_that_are_ready_count(world: World) -> None:
    await world.submit(201)
    await world.fold()

    (row,) = await world.api.list_shares(world.caller, world.pool, limit=10)

    assert row["n_ready"] == 201


USER_COUNTS_CHECK = "users_are_counted"
STATES = (JobState.PENDING, JobState.READY, JobState.RUNNING, JobState.BLOCKED)


@pytest.mark.parametrize("folds", [True, False])
async def test_overview_counts_the_jobs_of_all_batches_that_one_sees(
    own_world: World, *, folds: bool
) -> None:
    """One's own, those of one's projects and those that are shared, each of them once."""
    world, chance = own_world, random.Random(7)  # noqa: S311 (a test)
    await world.fold()
    members = [world.caller, await world.user("bob"), await world.user("cyd")]
    projects = [await project_of(world, name, *members) for name in "pq"]
    batches = [
        await world.submit(1 << n, caller=chance.choice(members), billing_project=name)
        for n, name in enumerate("ppqqpqp")
    ]
    worker, (ended, *running) = await world.claim()
    await worker.start(ended, *running)
    await worker.end(ended)
    callers = [await leave(world, one) for one in members]
    await join(world, callers[1], projects[0])
    for one in callers[1:]:
        for batch in batches[::2]:
            await grant(world, one, batch, Permission.READ)
        for batch in batches:  # of single jobs, which tell nothing of their batch
            await world.admin.execute(
                "INSERT INTO weft.batch_grant SELECT $1, $2, $3, 1, 'ada', clock_timestamp(), 1",
                batch,
                one.user_id,
                one.tenant_id,
            )
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
    assert USER_COUNTS_CHECK not in await world.findings()


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
