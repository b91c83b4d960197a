"""Holds, releases and changes of priority while others claim, end and sweep."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from builders import job_rows
from store.barriers import TREE, hold, hold_and_park, numbers, park, release
from store.test_orphans import patrolled
from store.test_priorities import ask, order, priorities, prioritize_job, running, steps
from store.world import Worker, World
from weft.store.database import call_on

HOLDS: list[Callable[[World, int], Any]] = [
    hold,
    lambda world, batch: hold(world, batch, 1),
    lambda world, batch: world.api.hold_jobs(world.caller, batch, [1, 2, 3, 4]),
]


@pytest.mark.parametrize("make_hold", HOLDS, ids=["batch", "group", "jobs"])
async def test_hold_waits_for_a_claim_and_nothing_is_claimed_after_it(
    world: World, make_hold: Callable[[World, int], Any]
) -> None:
    batch = await world.submit(job_rows(4, group=1, priority=[0, 0, 5, 5]), groups=TREE)
    worker, other = await world.worker(), await world.worker("other")
    async with world.claiming(worker, 2) as rows:
        holding = await world.start_waiting(make_hold(world, batch))
        while_it_waits = await other.claim()
    await holding

    assert len(rows) == 2
    assert while_it_waits == []  # a claim only tries the lock that the hold waits for
    assert await other.claim() == []
    assert (await world.states(batch)).count("R") == 2


@pytest.mark.parametrize("ended_first", [True, False])
async def test_no_job_is_stuck_that_becomes_ready_while_its_group_is_released(
    world: World, *, ended_first: bool
) -> None:
    """Nor does the patrol call one orphaned that is held and was told to nobody."""
    batch, worker, (one,) = await world.submit_and_claim(
        job_rows(3, parents={2: [1], 3: [1]}, group=[0, 1, 1]), groups=TREE
    )
    await hold_and_park(world, batch, 1)
    end = {
        "incarnation_id": worker.id,
        "batch_ids": [batch],
        "job_ids": [1],
        "attempts": [1],
        "start_ages_us": [1000],
        "end_ages_us": [0],
        "reasons": [None],
        "exit_codes": [0],
        "signals": [None],
        "cpu_ms_list": [0],
        "memory_peaks": [0],
        "stdout_bytes_list": [0],
        "stderr_bytes_list": [0],
        "truncated_list": [False],
        "segments": [None],
        "offsets": [None],
        "messages": [""],
    }
    freed = {
        "tenant_id": world.caller.tenant_id,
        "batch_id": batch,
        "group_id": 1,
        "actor": "x",
    }
    ending, releasing = await world.connect("weft_worker"), await world.connect("weft_api")
    calls = [(ending, "complete_attempts", end), (releasing, "release_group", freed)]
    (first, name, arguments), (second, other_name, others) = calls if ended_first else calls[::-1]
    async with first.transaction():
        await call_on(first, name, **arguments)
        async with second.transaction():
            await call_on(second, other_name, **others)
        await park(world)
        await world.fold()
    assert await patrolled(world) == []
    await park(world)

    assert one.job_id == 1
    assert numbers(await worker.claim()) == [2, 3]


async def test_release_and_sweep_at_once(world: World, worker: Worker) -> None:
    """A step that parks while the group is released leaves nothing behind."""
    batch = await world.submit(job_rows(400, group=1, priority=[0, 1] * 200), groups=TREE)
    epoch = await world.lead()

    async def sweep() -> None:
        for _ in range(30):
            await world.driver.sweep("sweep_holds", epoch, limit_jobs=50)

    async def change() -> None:
        for _ in range(5):
            await hold(world, batch, 1)
            await world.api.hold_jobs(world.caller, batch, [7])
            await release(world, batch, 1)
            await world.api.release_jobs(world.caller, batch, [7])

    await asyncio.gather(sweep(), change())
    await park(world)

    assert len(await worker.claim(1000)) == 400


async def step_call(world: World, operation: int) -> dict[str, Any]:
    return {"epoch": await world.lead(), "of_operation_id": operation, "limit_rows": 100}


async def test_step_leaves_what_a_claim_has_to_the_next_one(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(5, priority=[0, 0, 0, 4, 4]))
    operation = await ask(world, batch, 0, 7)
    async with world.claiming(worker, 2) as claimed:
        outcomes = await steps(world, batch)
        document = await world.api.get_operation(world.caller, operation)
    while await running(world, batch):
        await steps(world, batch)

    assert [row["job_id"] for row in claimed] == [4, 5]
    assert (outcomes, document["done"], document["state"]) == (["busy"], 3, "running")
    assert await priorities(world, batch) == [7] * 5
    assert await world.states(batch) == "rrrRR"
    assert await order(world) == [1, 2, 3]


async def test_claim_passes_over_what_a_step_has_and_does_not_sleep(world: World) -> None:
    batch, worker = await world.submit_to_worker(job_rows(4, priority=[0, 0, 4, 4]))
    operation = await ask(world, batch, 0, 7)
    async with world.during("weft_driver", "set_priorities", **await step_call(world, operation)):
        meanwhile = await worker.claim()
        beat = await worker.beat()
    after = await worker.claim()

    assert (meanwhile, beat.has_work) == ([], True)
    assert numbers(after) == [1, 2, 3, 4]
    assert await worker.claim() == []


async def test_release_lists_what_a_step_has_just_moved(world: World) -> None:
    batch = await world.submit(job_rows(4, group=1, priority=[0, 0, 4, 4]), groups=TREE)
    await hold_and_park(world, batch, 1)
    operation = await ask(world, batch, 1, 7)
    async with world.during("weft_driver", "set_priorities", **await step_call(world, operation)):
        releasing = await world.start_waiting(release(world, batch, 1))
    await releasing
    await park(world)

    assert await order(world) == [1, 2, 3, 4]


@pytest.mark.heavy
async def test_sweep_lists_and_steps_move_at_once(world: World) -> None:
    """More jobs than a release lists by itself, so that the sweep finds them moved."""
    batch = await world.submit(job_rows(3000, group=1), groups=TREE)
    await hold_and_park(world, batch, 1)

    async def sweep() -> None:
        while await world.driver.sweep("sweep_holds", await world.lead(), limit_jobs=100):
            pass

    async def change() -> None:
        for priority in (5, 2, 0, 9):
            await ask(world, batch, 1, priority)
            await prioritize_job(world, batch, 2500, priority)
            while await running(world, batch):
                await steps(world, batch, limit=700)

    await release(world, batch, 1)
    await asyncio.gather(sweep(), change())
    await sweep()

    assert set(await priorities(world, batch)) == {9}
    assert len(await (await world.worker()).claim(5000)) == 3000


async def test_claims_and_changes_at_once_lose_and_double_nothing(world: World) -> None:
    batch = await world.submit(600)
    workers = [await world.worker(name) for name in ("one", "two")]
    finished = asyncio.Event()

    async def work(place: int) -> list[int]:
        found: list[int] = []
        while not finished.is_set() or not await workers[place].waits():
            claimed = await workers[place].claim(7)
            found += [one.job_id for one in claimed]
            if claimed:
                await workers[place].end(*claimed)
        return found

    async def change() -> None:
        for priority in (1, 0, 1, -1, 0, 3):
            await ask(world, batch, 0, priority)
            while await running(world, batch):
                await steps(world, batch, limit=50)
        finished.set()

    async with asyncio.timeout(60):
        first, second, _ = await asyncio.gather(work(0), work(1), change())

    assert sorted([*first, *second]) == list(range(1, 601))
    assert await world.states(batch) == "s" * 600


async def test_child_that_got_a_priority_while_it_was_told_does_not_hide_in_a_range(
    world: World,
) -> None:
    n_children = 1100  # the driver updates that many, as neighbours in one range
    parents = {child: [1] for child in range(2, n_children + 2)}
    batch, worker = await world.submit_and_run(job_rows(n_children + 1, parents=parents))
    edit = {
        "tenant_id": world.caller.tenant_id,
        "batch_id": batch,
        "job_id": 500,
        "patch": {"priority": 3},
        "attributes_max": 64,
        "actor": "x",
    }
    async with world.during("weft_api", "edit_job", **edit):
        telling = await world.start_waiting(world.sweep())
    await telling
    ranges = await world.admin.fetchval(
        "SELECT count(*) FROM weft.runnable WHERE batch_id = $1 AND first_job > 1", batch
    )
    claimed = await worker.claim(2)

    assert ranges == 1
    assert [one.job_id for one in claimed] == [500, 2]
