"""A claim shares what is free among users as the rule of fair share says."""

from collections import Counter
from itertools import accumulate

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders import job_rows
from store.backend import Backend
from store.water_filling import Demand, water_filling
from store.world import World, open_world
from weft.core.scheduling.fair_share import UserWork, fair_shares
from weft.ports.store import Caller, Shape


async def new_user(world: World, name: str, weight: int = 1) -> Caller:
    caller = await world.user(name)
    await world.admin.execute(
        "UPDATE weft.tenant_user SET weight = $2 WHERE user_id = $1", caller.user_id, weight
    )
    return caller


async def submit_jobs(world: World, caller: Caller, n: int, cpu_m: int) -> int:
    shapes = [Shape(cpu_m=cpu_m, memory_mib=1)]
    return await world.submit(job_rows(n, shapes=shapes), caller=caller)


async def compare_with_core(world: World, free_m: int) -> int:
    """Compare `_fair_shares` with `core/scheduling/fair_share.py`; return for how many users."""
    rows = await world.admin.fetch(
        "SELECT s.* FROM weft.user_share s JOIN weft.pool p USING (pool_id) "
        "WHERE s.active AND s.n_ready > 0 AND p.name = $1 ORDER BY s.load, s.user_id",
        world.pool,
    )
    shares = await world.admin.fetchrow(
        "SELECT s.* FROM weft.pool p CROSS JOIN LATERAL weft._fair_shares(p.pool_id, $2, 64) s "
        "WHERE p.name = $1",
        world.pool,
        free_m,
    )
    assert shares is not None
    wanted = fair_shares(
        [UserWork(row["running_m"], row["ready_m"], row["weight"]) for row in rows], free_m
    )
    found = shares["upto_m"] or []
    assert (shares["user_ids"] or []) == [row["user_id"] for row in rows]
    for upto, share in zip(found, accumulate(wanted), strict=True):
        assert abs(upto - share) <= len(rows)  # each is rounded up from a floating number
    return len(rows)


@pytest.mark.parametrize("ranged", [True, False])
async def test_two_users_get_half_of_a_large_worker_each(world: World, *, ranged: bool) -> None:
    bob = await world.user("bob")
    priority = [0 if ranged else 1]
    mine = await world.submit(job_rows(50, priority=priority))
    his = await world.submit(job_rows(50, priority=priority), caller=bob)
    await world.fold()
    claimed = await (await world.worker()).claim(cpu_m=64_000)

    assert Counter(one.batch_id for one in claimed) == {mine: 32, his: 32}


@pytest.mark.parametrize(("n", "gpu", "counts"), [(1, 0, [1, 15, 15]), (50, 1, [15, 16])])
async def test_what_one_user_leaves_is_shared_by_the_others(
    world: World, n: int, gpu: int, counts: list[int]
) -> None:
    """Having less than a share, or jobs for which the worker is not enough."""
    await world.submit(50)
    await world.submit(50, caller=await world.user("bob"))
    shapes = [Shape(cpu_m=1000, memory_mib=1, gpu=gpu)]
    await world.submit(job_rows(n, shapes=shapes), caller=await world.user("eve"))
    await world.fold()
    claimed = await (await world.worker()).claim(cpu_m=31_000)

    assert sorted(Counter(one.batch_id for one in claimed).values()) == counts


async def test_nothing_is_left_while_anybody_has_work(world: World) -> None:
    """Counters are behind: the share of a user who asks for more than is known is not the end."""
    bob = await world.user("bob")
    await world.submit(2)
    await world.submit(2, caller=bob)
    await world.fold()
    await world.submit(50)
    claimed = await (await world.worker()).claim(cpu_m=30_000)

    assert len(claimed) == 30


async def test_more_users_than_a_claim_shares_among_are_all_served(world: World) -> None:
    callers = [await world.user(f"u{n}") for n in range(70)]
    batches = [await world.submit(1, caller=who) for who in callers]
    await world.fold()
    claimed = await (await world.worker()).claim()

    assert sorted(one.batch_id for one in claimed) == sorted(batches)


async def test_users_without_ready_jobs_get_no_share(world: World) -> None:
    """Before the fold, too: a claim that looks for their jobs finds none."""
    bob = await world.user("bob")
    await world.submit(3)
    his = await world.submit(3, caller=bob)
    worker = await world.worker(cpu_m=1000)
    await world.fold()
    claimed = await worker.claim(3, cpu_m=3000)
    assert {one.batch_id for one in claimed} != {his}

    pool_id = await world.admin.fetchval(
        "SELECT pool_id FROM weft.pool WHERE name = $1", world.pool
    )
    shares = await world.admin.fetchrow(
        "SELECT s.* FROM weft._fair_shares($1, 5000, 64) s", pool_id
    )

    assert (shares["user_ids"], shares["upto_m"]) == ([bob.user_id], [3000])


async def test_stock_is_of_few_users(world: World) -> None:
    """Each user costs a claim as much as dozens of jobs; the next claim serves others."""
    for number in range(4):
        await world.submit(100, caller=await world.user(f"u{number}"))
    await world.fold()
    small = await world.worker(cpu_m=1000)
    first = Counter(one.batch_id for one in await small.claim(100, cpu_m=100_000))
    second = Counter(one.batch_id for one in await small.claim(100, cpu_m=100_000))

    assert list(first.values()) == list(second.values()) == [50, 50]
    assert not first.keys() & second.keys()


async def test_idle_users_are_found_while_others_claim(world: World) -> None:
    _, _worker = await world.submit_and_run(1)
    async with world.transaction() as other:
        await other.execute("SELECT weft._announce()")
        await world.fold()
    active = await world.admin.fetchval(
        "SELECT active FROM weft.user_share WHERE user_id = $1", world.caller.user_id
    )

    assert active is False


users = st.lists(
    st.tuples(
        st.integers(0, 6),  # jobs that run
        st.integers(0, 20),  # jobs that are ready
        st.integers(1, 3),  # weight
        st.sampled_from([250, 1000, 3000]),  # mCPU of a job
    ),
    min_size=2,
    max_size=5,
)


@pytest.mark.heavy
@given(users=users, free_m=st.integers(1, 40).map(lambda cores: cores * 1000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_claims_agree_with_the_rule(
    backend: Backend, users: list[tuple[int, int, int, int]], free_m: int
) -> None:
    """Jobs are whole: a user gets up to one job more than its share. That is one job less for the
    next, for whom the last job may then find no room.
    """
    async with open_world(backend) as world:
        worker = await world.worker()
        callers = [await new_user(world, f"u{n}", user[2]) for n, user in enumerate(users)]
        for caller, (running, _, _, cpu_m) in zip(callers, users, strict=True):
            if running:
                await submit_jobs(world, caller, running, cpu_m)
                assert len(await worker.claim(running)) == running
        batches = [
            await submit_jobs(world, caller, ready, cpu_m) if ready else 0
            for caller, (_, ready, _, cpu_m) in zip(callers, users, strict=True)
        ]
        await world.fold()
        assert await compare_with_core(world, free_m) == sum(user[1] > 0 for user in users)
        claimed = await worker.claim(1000, cpu_m=free_m)

        taken: Counter[int] = Counter()
        for one in claimed:
            taken[one.batch_id] += one.cpu_m
        demands = [Demand(run * m, ready * m, weight) for run, ready, weight, m in users]
        one_job = max(m for _, _, _, m in users)
        for batch, share in zip(batches, water_filling(demands, free_m), strict=True):
            assert -2 * one_job < taken[batch] - share < one_job
        asked = sum(one.ready_m for one in demands)
        assert taken.total() > min(asked, free_m) - one_job
