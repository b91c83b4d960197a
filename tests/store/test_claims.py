"""Claims: which worker gets which jobs, in which order, and how many."""

import asyncio
from secrets import token_hex

import pytest

from builders import job_rows, tree
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Claimed, Shape
from weft.store.database import call_on
from weft.wire.spec import JobSpec, encode_chunk

A = Shape(cpu_m=1000, memory_mib=100)


def numbers(claimed: list[Claimed]) -> list[int]:
    return [one.job_id for one in claimed]


async def test_claim_makes_an_attempt(world: World) -> None:
    shape = Shape(cpu_m=250, memory_mib=64, storage_mib=10)
    batch, worker, claimed = await world.submit_and_claim(job_rows(3, shapes=[shape]), limit=2)

    chunk = (await worker.store.get_chunks([batch], [1]))[batch, 1]
    assert claimed == [
        Claimed(
            batch_id=batch,
            job_id=job,
            attempt=1,
            cpu_m=250,
            memory_mib=64,
            storage_mib=10,
            gpu=0,
            chunk_first=1,
            chunk=chunk,
        )
        for job in (1, 2)
    ]
    assert await world.states(batch) == "RRr"
    assert await world.counts(batch) == {"ready": 1, "running": 2}


@pytest.mark.parametrize(("limit", "size"), [(5, 10), (1, 200_000)])
async def test_large_claim_or_chunk_comes_without_specs(
    world: World, limit: int, size: int
) -> None:
    rows = job_rows(5)
    rows.chunk_body = [encode_chunk([JobSpec(stdin=token_hex(size))] * 5)]
    await world.submit(rows)
    claimed = await (await world.worker()).claim(limit)

    assert [one.chunk for one in claimed] == [None] * limit


async def test_higher_priority_is_served_first_then_age(world: World, worker: Worker) -> None:
    first = await world.submit(job_rows(3, priority=[0, 5, -5]))
    second = await world.submit(job_rows(3, priority=[0, 5, 9]))
    claimed = [(one.batch_id, one.job_id) for one in await worker.claim()]

    assert claimed == [(second, 3), (first, 2), (second, 2), (first, 1), (second, 1), (first, 3)]


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
async def test_order_does_not_depend_on_the_size_of_a_claim(world: World, limit: int) -> None:
    await world.submit(job_rows(4, priority=[0, 3, 0, 3]))
    await world.submit(job_rows(3, priority=[3, 0, -1]))
    worker = await world.worker()
    order = []
    while claimed := await worker.claim(limit):
        order += numbers(claimed)

    assert order == [2, 4, 1, 1, 3, 2, 3]


async def test_budget_bounds_the_sums_but_the_first_may_exceed_it(world: World) -> None:
    shapes = [Shape(cpu_m=3000, memory_mib=10), Shape(cpu_m=1000, memory_mib=10)]
    await world.submit(job_rows(4, shapes=shapes, shape_index=[0, 1, 1, 1]))
    worker = await world.worker(cpu_m=4000, memory_mib=1000)

    assert numbers(await worker.claim(cpu_m=2000)) == [1]
    assert numbers(await worker.claim(cpu_m=2500)) == [2, 3]
    assert numbers(await worker.claim(cpu_m=0, memory_mib=0)) == [4]


async def test_budget_of_memory_counts_as_well(world: World, worker: Worker) -> None:
    await world.submit(job_rows(4, shapes=[A]))

    assert numbers(await worker.claim(memory_mib=250)) == [1, 2]


async def test_job_that_does_not_fit_now_is_not_passed_by_smaller_ones(world: World) -> None:
    shapes = [Shape(cpu_m=1000), Shape(cpu_m=8000), Shape(cpu_m=1000)]
    await world.submit(job_rows(3, shapes=shapes, shape_index=[0, 1, 2]))
    worker = await world.worker(cpu_m=8000)

    assert numbers(await worker.claim(cpu_m=3000)) == [1]
    assert numbers(await worker.claim(cpu_m=3000)) == [2]


async def test_job_that_does_not_fit_now_is_left_to_a_worker_that_sleeps(world: World) -> None:
    busy, idle = await world.worker("busy", cpu_m=4000), await world.worker("idle", cpu_m=4000)
    small = await world.worker("small", cpu_m=2000)
    assert await idle.waits()
    assert await small.waits()
    await world.submit(job_rows(3, shapes=[Shape(cpu_m=4000)]))

    assert await busy.claim(cpu_m=1000) == []
    assert not await busy.waits()
    assert numbers(await idle.claim(cpu_m=4000)) == [1]
    assert await idle.waits() is False  # it looks for more, and has no room
    assert numbers(await busy.claim(cpu_m=1000)) == [2]


async def test_job_that_no_claim_of_this_worker_can_hold_is_passed_over(world: World) -> None:
    shapes = [Shape(cpu_m=9000), Shape(memory_mib=9000), Shape(gpu=1), Shape()]
    batch = await world.submit(job_rows(4, shapes=shapes, shape_index=[0, 1, 2, 3]))
    small = await world.worker("small", cpu_m=8000, memory_mib=8000)
    claimed = await small.claim()

    assert numbers(claimed) == [4]
    await small.end(*claimed)
    assert await small.waits()
    large = await world.worker("large", cpu_m=16000, memory_mib=16000)
    assert numbers(await large.claim()) == [1, 2]
    assert await world.states(batch) == "RRrs"


@pytest.mark.parametrize("listed", [False, True])
async def test_countables_are_not_for_workers_that_have_none(
    world: World, worker: Worker, *, listed: bool
) -> None:
    """And such a worker sleeps instead of looking again and again."""
    await world.submit(
        job_rows(1, shapes=[Shape(countables=(("licence", 1),))], priority=int(listed))
    )

    assert await worker.claim() == []
    assert await worker.waits()


async def test_jobs_below_a_hint_are_found(world: World, worker: Worker) -> None:
    """A hint says where the last claim stood; what was locked below it is not forgotten."""
    batch = await world.submit(10)
    async with world.transaction() as locker:
        await locker.execute(
            "SELECT FROM weft.job WHERE batch_id = $1 AND job_id <= 3 FOR UPDATE", batch
        )
        before = numbers(await worker.claim(4))

    assert before == [4, 5, 6, 7]
    assert numbers(await worker.claim(20)) == [8, 9, 10, 1, 2, 3]


async def test_hint_is_moved_by_folds_only_over_what_is_gone(world: World) -> None:
    batch, worker, first = await world.submit_and_claim(10, limit=6)
    await world.fold()
    low = await world.admin.fetchval(
        "SELECT low_job FROM weft.runnable WHERE batch_id = $1", batch
    )
    await worker.end(*first[:3], reason=Reason.PREEMPTED, start_age_us=None)

    assert low == 7
    assert sorted(numbers(await worker.claim())) == [1, 2, 3, 7, 8, 9, 10]
    await world.fold()
    assert not await world.admin.fetchval(
        "SELECT count(*) FROM weft.runnable WHERE batch_id = $1", batch
    )


async def test_claimer_does_not_wait_for_another(world: World) -> None:
    await world.submit(job_rows(4, priority=[0, 0, 1, 1]))
    worker, other = await world.worker("w"), await world.worker("x")
    async with world.claiming(worker, 3) as first:
        async with asyncio.timeout(30):
            second = await other.claim()

    assert [row["job_id"] for row in first] == [3, 4, 1]
    assert numbers(second) == [2]


async def test_max_running_is_exact_with_claimers_at_once(world: World) -> None:
    batch = await world.submit(job_rows(40, priority=[n % 3 for n in range(40)]), max_running=7)
    workers = [await world.worker(f"w{n}") for n in range(4)]
    for turn in range(4):
        claims = await asyncio.gather(*[worker.claim(5) for worker in workers])
        extra = [await worker.claim(5) for worker in workers]
        assert await world.counts(batch) == {
            name: n
            for name, n in {"ready": 33 - turn * 7, "running": 7, "succeeded": turn * 7}.items()
            if n
        }
        for worker, *taken in zip(workers, claims, extra, strict=True):
            for part in taken:
                if part:
                    await worker.end(*part)
        if turn % 2:
            await world.fold()


async def test_draining_worker_claims_nothing(world: World, worker: Worker) -> None:
    await world.submit(1)
    await worker.beat(draining=True)

    assert await worker.claim() == []
    assert await worker.waits()


async def test_user_who_runs_least_is_served_first(world: World, worker: Worker) -> None:
    bob = await world.user("bob")
    mine = await world.submit(10)
    await worker.claim(4)
    await world.fold()
    his = await world.submit(10, caller=bob)
    claimed = await worker.claim(3)

    assert [one.batch_id for one in claimed] == [his] * 3
    await world.fold()
    # Four run of ours, three of his.
    assert [one.batch_id for one in await worker.claim(2)] == [his] * 2
    await world.fold()
    assert [one.batch_id for one in await worker.claim(2)] == [mine] * 2


async def test_who_was_served_since_the_last_fold_comes_last(world: World, worker: Worker) -> None:
    callers = [world.caller, await world.user("bob"), await world.user("eve")]
    batches = [await world.submit(6, caller=caller) for caller in callers]
    served = [(await worker.claim(1))[0].batch_id for _ in range(3)]

    assert sorted(served) == sorted(batches)


async def test_weight_counts(world: World, worker: Worker) -> None:
    bob = await world.user("bob")
    await world.admin.execute(
        "UPDATE weft.tenant_user SET weight = 3 WHERE user_id = $1", bob.user_id
    )
    mine, his = await world.submit(40), await world.submit(40, caller=bob)
    taken = []
    for _ in range(16):
        taken += [one.batch_id for one in await worker.claim(1)]
        await world.fold()

    assert (taken.count(mine), taken.count(his)) == (4, 12)


async def test_large_claim_goes_on_to_the_users_who_run_least(world: World) -> None:
    """What a worker claims ahead it takes of one user first, and then of the others by turns."""
    worker = await world.worker(cpu_m=4000)
    mine = await world.submit(4)
    await worker.claim(2)
    his, hers = [await world.submit(2, caller=await world.user(name)) for name in ("bob", "eve")]
    await world.fold()

    claimed = [one.batch_id for one in await worker.claim(50)]
    assert claimed == [his, his, hers, hers, mine, mine]


async def test_cancelled_group_is_skipped_before_it_is_swept(world: World, worker: Worker) -> None:
    batch = await world.submit(
        job_rows(6, group=[0, 1, 2, 0, 1, 2], priority=[0, 0, 0, 1, 1, 1]), groups=tree("a", "a/b")
    )
    await world.api.cancel_group(world.caller, batch, 1, force=False)

    assert numbers(await worker.claim()) == [4, 1]
    assert await worker.waits()
    await world.sweep()
    assert await world.states(batch) == "RccRcc"


async def test_claim_is_never_dated_before_the_commit_of_its_update(world: World) -> None:
    """The claimer's clock was read before it saw the commit: so may two cpus or a long call."""
    batch = await world.submit(job_rows(4, priority=[0, 0, 3, 3], parents={4: [1]}))
    worker = await world.worker()
    early = await world.admin.fetchval("SELECT clock_timestamp() - interval '1 minute'")
    await world.call(
        "claim_jobs",
        incarnation_id=worker.id,
        budget_cpu_m=10**6,
        budget_memory_mib=10**6,
        limit_jobs=10,
        at=early,
    )
    committed_at = await world.admin.fetchval(
        "SELECT committed_at FROM weft.batch_update WHERE batch_id = $1", batch
    )
    claims = [(await world.job(batch, job))["claimed_at"] for job in (1, 2, 3)]

    assert min(claims) >= committed_at


@pytest.mark.parametrize("priority", [0, 4])
async def test_always_run_job_of_a_cancelled_batch_is_work(world: World, priority: int) -> None:
    """Clean-up runs after a cancel, so who sleeps beside it would sleep for ever."""
    batch = await world.submit(
        job_rows(3, always_run=[False, True, True], parents={3: [1]}, priority=priority)
    )
    worker = await world.worker()
    await world.api.cancel_group(world.caller, batch, 0, force=False)
    slept = [await worker.waits(), numbers(await worker.claim()), await worker.waits()]
    await world.sweep()

    assert slept == [False, [2], True]
    assert await world.states(batch) == "cRr"
    assert not await worker.waits()
    assert numbers(await worker.claim()) == [3]


async def test_forced_cancel_leaves_no_work(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(2, always_run=True))
    await world.api.cancel_group(world.caller, batch, 0, force=True)

    assert await worker.claim() == []
    assert await worker.waits()
    await world.sweep()
    assert await world.states(batch) == "cc"


@pytest.mark.parametrize("listed", [False, True], ids=["range", "listed"])
async def test_claim_leaves_alone_what_another_took_after_its_snapshot(
    world: World, *, listed: bool
) -> None:
    """It does not lock these rows, for which the reports of their worker would wait. In this
    isolation level PostgreSQL refuses to lock them.
    """
    await world.submit(job_rows(6, priority=[int(listed)]))
    slow, fast = await world.worker("slow"), await world.worker("fast")
    connection = await world.connect("weft_worker")
    async with connection.transaction(isolation="repeatable_read"):
        await connection.fetchval("SELECT 1")
        first = await fast.claim(2)
        second = await call_on(
            connection,
            "claim_jobs",
            incarnation_id=slow.id,
            limit_jobs=2,
            budget_cpu_m=10**9,
            budget_memory_mib=10**9,
        )

    assert numbers(first) == [1, 2]
    assert [row["job_id"] for row in second] == [3, 4]


@pytest.mark.parametrize(
    ("xmax", "untouched"),
    [
        ("0", True),
        ("4294967291", True),  # before the snapshot
        ("4294967295", False),  # under way at the snapshot
        ("3", True),  # of the next epoch, before the snapshot
        ("4", False),  # after it
        ("100", False),
    ],
)
async def test_row_is_touched_by_who_was_not_done_at_the_snapshot(
    world: World, xmax: str, *, untouched: bool
) -> None:
    snapshot = "4294967290:4294967300:4294967295"
    found = await world.admin.fetchval(
        "SELECT weft._is_untouched($1::text::xid, $2::text::pg_snapshot)", xmax, snapshot
    )

    assert found is untouched
