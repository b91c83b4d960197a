"""Who is given which jobs: lanes that a worker serves, and what it has free of their amounts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from builders import job_rows, tree
from store.world import Worker, World
from weft.core import errors
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import Shape

GPU = Shape(gpu=1)
FUNCTION = Shape(words=(("executor", "function"),))


def licence(count: int) -> Shape:
    return Shape(countables=(("matlab", count),))


async def numbers(worker: Worker, limit: int = 100) -> list[int]:
    """Claim; return the numbers of the jobs."""
    return [one.job_id for one in await worker.claim(limit)]


@asynccontextmanager
async def told(world: World) -> AsyncIterator[Callable[[], Any]]:
    """Listen for work; the yielded function returns the notices to this pool so far."""
    connection, found = await world.connect(), []
    pool = await world.admin.fetchval("SELECT pool_id FROM weft.pool WHERE name = $1", world.pool)

    def put(_connection: object, _pid: int, _channel: str, payload: object) -> None:
        if str(payload).split(":")[0] == str(pool):
            found.append(str(payload).partition(":")[2])

    await connection.add_listener("work", put)

    async def so_far() -> list[str]:
        await connection.execute("SELECT pg_notify('work', $1)", f"{pool}:end")
        async with asyncio.timeout(60):
            while "end" not in found:
                await asyncio.sleep(0)
        return found[: found.index("end")]

    yield so_far


async def test_a_worker_claims_jobs_of_its_lanes_only(world: World) -> None:
    await world.submit(job_rows(4, shapes=[GPU, Shape()], shape_index=[0, 1, 0, 1]))
    plain, gpu = await world.worker("plain"), await world.worker("gpu", gpu=8)

    assert await numbers(plain) == [2, 4]
    assert await plain.waits()
    assert await numbers(gpu) == [1, 3]


async def test_jobs_of_several_lanes_come_in_order_of_priority_and_age(world: World) -> None:
    rows = job_rows(
        6,
        shapes=[GPU, Shape(), FUNCTION],
        shape_index=[0, 1, 2, 0, 1, 2],
        priority=[0, 5, 7, 5, 9, 0],
    )
    first = await world.submit(rows)
    second = await world.submit(job_rows(2, shapes=[GPU, Shape()], shape_index=[1, 0], priority=5))
    worker = await world.worker(gpu=8)
    claimed = [(one.batch_id, one.job_id) for one in await worker.claim()]

    assert claimed[:2] == [(first, 5), (first, 3)]
    assert sorted(claimed[2:4]) == [(first, 2), (first, 4)]
    assert sorted(claimed[4:6]) == [(second, 1), (second, 2)]
    assert sorted(claimed[6:]) == [(first, 1), (first, 6)]


@pytest.mark.parametrize("n_jobs", [5, 500])
async def test_a_claim_takes_no_more_gpus_than_are_free(world: World, n_jobs: int) -> None:
    await world.submit(job_rows(n_jobs, shapes=[GPU]))
    worker = await world.worker(gpu=3)
    first = await worker.claim()
    assert [one.job_id for one in first] == [1, 2, 3]
    assert (first[0].gpu, await numbers(worker), await worker.waits()) == (1, [], True)
    await worker.end(*first[:2])

    assert await numbers(worker) == [4, 5]


async def test_storage_and_countables_are_budgets_too(world: World) -> None:
    shapes = [Shape(storage_mib=400_000), licence(2)]
    await world.submit(job_rows(8, shapes=shapes, shape_index=[0, 1] * 4))
    worker = await world.worker(matlab=5)

    assert sorted(await numbers(worker)) == [1, 2, 3, 4]
    assert await worker.waits()


async def test_a_lease_that_is_handed_back_frees_what_it_took(world: World) -> None:
    await world.submit(job_rows(1, shapes=[licence(1)]))
    worker = await world.worker(matlab=1)
    (one,) = await worker.claim()
    await worker.end(one, reason=Reason.PREEMPTED, start_age_us=None)

    assert await numbers(worker) == [1]


async def test_what_was_claimed_before_a_heartbeat_still_counts(world: World) -> None:
    await world.submit(job_rows(3, shapes=[GPU]))
    worker = await world.worker(gpu=2)
    claimed = await worker.claim_and_start()
    await worker.beat(*claimed)

    assert await numbers(worker) == []


async def test_a_job_that_needs_much_is_not_passed_by_others_for_ever(world: World) -> None:
    """It comes first and finds one of two gpus busy; the other one waits for it."""
    worker = await world.worker(gpu=2)
    await world.submit(job_rows(1, shapes=[GPU]))
    running = await worker.claim()
    large = await world.submit(job_rows(1, shapes=[Shape(gpu=2)]))
    small = await world.submit(job_rows(1, shapes=[GPU]))
    plain = await world.submit(1)
    assert [one.batch_id for one in await worker.claim()] == [plain]
    assert await worker.waits()
    await worker.end(*running)
    (first,) = await worker.claim()
    assert first.batch_id == large
    await worker.end(first)

    assert [one.batch_id for one in await worker.claim()] == [small]


@pytest.mark.parametrize("why", ["held", "cancelled", "too large"])
@pytest.mark.parametrize("n_jobs", [1, 200], ids=["listed", "range"])
async def test_a_job_that_may_not_be_claimed_keeps_nothing_from_others(
    world: World, why: str, n_jobs: int
) -> None:
    """It would come first and asks for more gpus than are free now."""
    worker = await world.worker(gpu=2, cpu_m=1000)
    await world.submit(job_rows(1, shapes=[GPU]))
    assert len(await worker.claim()) == 1
    shape = Shape(cpu_m=2000 if why == "too large" else 1000, gpu=2)
    rows = job_rows(n_jobs, shapes=[shape], group=[-1] * n_jobs, priority=int(n_jobs == 1))
    large = await world.submit(rows, groups=tree("g"))
    if why == "held":
        await world.api.hold_group(world.caller, large, 1)
    elif why == "cancelled":
        await world.api.cancel_group(world.caller, large, 1, force=False)
    small = await world.submit(job_rows(1, shapes=[GPU]))

    assert not await worker.waits()
    assert [one.batch_id for one in await worker.claim()] == [small]


async def test_jobs_of_an_executor_go_to_workers_that_have_it(world: World) -> None:
    await world.submit(job_rows(2, shapes=[FUNCTION, Shape()], shape_index=[0, 1]))
    without = await world.worker("without", executor=["process"])
    only = await world.worker("only", executor=["function"])

    assert await numbers(without) == [2]
    assert await numbers(only) == [1]


async def test_words_are_offered_alone_or_in_a_list(world: World) -> None:
    await world.submit(job_rows(1, shapes=[Shape(words=(("region", "eu"),))]))
    elsewhere = await world.worker("elsewhere", region="us")
    here = await world.worker("here", region=["us", "eu"])

    assert await numbers(elsewhere) == []
    assert await numbers(here) == [1]


async def test_who_sleeps_is_woken_by_work_of_its_lanes_alone(world: World) -> None:
    plain, gpu = (
        await world.worker("plain"),
        await world.worker("gpu", gpu=8, executor=["process"]),
    )
    assert await plain.waits()
    assert await gpu.waits()
    async with told(world) as notices:
        await world.submit(job_rows(1, shapes=[GPU]))
        await world.submit(job_rows(1, shapes=[FUNCTION], priority=1))
        await world.submit(job_rows(1, shapes=[Shape(gpu=9)]))
        await world.submit(1)

        assert await notices() == [str(gpu.id), str(plain.id), ""]


async def test_a_little_work_wakes_a_few_of_many_workers(world: World) -> None:
    """The last of them leaves nothing behind for which others would have to be woken."""
    workers = {one.id: one for one in [await world.worker(f"sleeper-{n}") for n in range(20)]}
    for one in workers.values():
        assert await one.waits()
    async with told(world) as notices:
        await world.submit(5)
        (called,) = await notices()
    first, second = (workers[int(one)] for one in called.split(",")[:2])
    assert len(await first.claim(2)) == 2
    async with told(world) as notices:
        assert len(await second.claim(3)) == 3
        assert not await notices()

    assert len(set(called.split(","))) == 16


@pytest.mark.parametrize(
    ("n_jobs", "priority", "n_woken"),
    [(2, 0, 0), (3, 0, 1), (65, 0, 1), (66, 0, 2), (3, 1, 1), (66, 1, 2)],
)
async def test_who_leaves_work_behind_wakes_the_next(
    world: World, n_jobs: int, priority: int, n_woken: int
) -> None:
    """Two, if it is more than 32 times what it took; only who had slept."""
    workers = [await world.worker(f"sleeper-{n}") for n in range(20)]
    await world.submit(job_rows(n_jobs, priority=priority))
    for one in workers:
        await one.waits()
    async with told(world) as notices:
        await workers[0].claim(2)
        passed_on = [one.split(",") for one in await notices()]
    async with told(world) as notices:
        await workers[0].claim(2)
        assert not await notices(), "it had not slept"

    assert [len(one) for one in passed_on] == ([n_woken] if n_woken else [])
    assert all(str(workers[0].id) not in one for one in passed_on)


async def test_workers_that_were_woken_together_lock_what_they_take_only(world: World) -> None:
    """Neither waits for the other's commit, and neither finds all jobs locked."""
    first, second = await world.worker("first"), await world.worker("second")
    assert await first.waits()
    assert await second.waits()
    batch = await world.submit(5)
    async with world.claiming(first, 1000, cpu_m=2500) as one:
        other = await second.claim(1000, cpu_m=2000)

    assert [row["job_id"] for row in one] == [1, 2]
    assert [row.job_id for row in other] == [3, 4]
    assert await world.states(batch) == "RRRRr"


async def test_who_takes_the_rest_of_a_batch_looks_at_the_next(world: World) -> None:
    workers = [await world.worker(f"sleeper-{n}") for n in range(20)]
    await world.submit(2)
    await world.submit(1)
    for one in workers:
        await one.waits()
    async with told(world) as notices:
        await workers[0].claim(2)
        (passed_on,) = await notices()

    assert "," not in passed_on


async def test_who_sleeps_for_lack_of_room_is_woken_when_an_attempt_ends(world: World) -> None:
    await world.submit(job_rows(2, shapes=[GPU]))
    worker, other = await world.worker(gpu=1), await world.worker("other")
    claimed = await worker.claim()
    assert await worker.waits()
    assert await other.waits()
    async with told(world) as notices:
        await worker.end(*claimed)

        assert await notices() == [str(worker.id)]
    assert await numbers(worker) == [2]


async def test_a_released_batch_wakes_those_who_serve_it(world: World) -> None:
    batch = await world.submit(job_rows(1, shapes=[GPU]))
    await world.api.hold_group(world.caller, batch, 0)
    worker = await world.worker(gpu=1)
    assert await worker.waits()
    async with told(world) as notices:
        await world.api.release_group(world.caller, batch, 0)

        assert await notices() != []
    assert await numbers(worker) == [1]


async def test_children_that_become_ready_wake_workers_of_their_lane(world: World) -> None:
    rows = job_rows(2, shapes=[Shape(), GPU], shape_index=[0, 1], parents={2: [1]})
    await world.submit(rows)
    plain, gpu = await world.worker("plain"), await world.worker("gpu", gpu=1)
    claimed = await plain.claim()
    assert await plain.waits()
    assert await gpu.waits()
    async with told(world) as notices:
        await plain.end(*claimed)

        assert await notices() == [str(gpu.id)]
    assert await numbers(gpu) == [2]


async def test_lanes_without_end_do_not_slow_a_claim(world: World, worker: Worker) -> None:
    """A hundred lanes that the worker serves, with work in one of them."""
    await world.submit(job_rows(1, shapes=[Shape(storage_mib=n) for n in range(1, 101)]))
    await world.submit(job_rows(3, shapes=[Shape(storage_mib=50)]))

    assert len(await worker.claim()) == 4


async def test_a_worker_that_names_queues_claims_from_these_only(world: World) -> None:
    words = [(("pool", world.pool), ("queue", name)) for name in ("a", "b")]
    shapes = [Shape(words=words[0]), Shape(words=words[1]), Shape()]
    await world.api.save_queues(world.caller, [Queue(name="a", priority=1, pools=(world.pool,))])
    await world.submit(job_rows(6, shapes=shapes, shape_index=[0, 1, 2, 0, 1, 2]))
    one, two = await world.worker("one", queue=["a"]), await world.worker("two", queue=["default"])

    assert await numbers(one) == [1, 4]
    assert await numbers(two) == [3, 6]
    assert await one.waits()
    assert await numbers(await world.worker("all")) == [2, 5]


async def test_queues_that_a_worker_names_must_exist_when_it_starts(world: World) -> None:
    missing = f"missing-{world.pool}"
    worker = await world.worker(queue=["default"])
    facts = {**worker.facts, "offers": {"queue": ["default", missing]}}

    with pytest.raises(errors.ServedQueueNotFound, match=missing) as refused:
        await worker.store.register_worker(**{**facts, "incarnation": world.pool})
    assert "default" in refused.value.detail
    await worker.store.register_worker(**facts)  # it goes on when a queue is deleted


async def test_a_worker_whose_machine_ends_claims_what_ends_before(world: World) -> None:
    """The lanes that it may claim from become fewer; it sleeps although others have work."""
    shapes = [Shape(words=(("timeout_s", one),)) for one in ("30-60", "600-600")]
    await world.submit(job_rows(6, shapes=[*shapes, Shape()], shape_index=[0, 1, 2] * 2))
    pilot = await world.worker("pilot", timeout_s=600)

    async def pass_time(seconds: int) -> None:
        await world.age(
            "worker_incarnation", "registered_at", by_s=seconds, incarnation_id=pilot.id
        )

    await pass_time(61)
    assert not await pilot.waits()
    assert await numbers(pilot) == [1, 4]
    assert await pilot.waits()
    await pass_time(600)
    await world.submit(job_rows(1, shapes=shapes[:1]))
    assert await numbers(pilot) == []
    assert await pilot.waits()
    assert sorted(await numbers(await world.worker("fresh", timeout_s=600))) == [1, 2, 5]
    assert await numbers(await world.worker("stays")) == [3, 6]
