"""Changes of priority while others claim, release and sweep."""

import asyncio
from typing import Any

import pytest

from builders import job_rows
from store.test_holds import TREE, hold, numbers, park, release
from store.test_priorities import ask, order, priorities, prioritize_job, running, steps
from store.world import Worker, World


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
    batch = await world.submit(job_rows(4, priority=[0, 0, 4, 4]))
    worker = await world.worker()
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
    await hold(world, batch, 1)
    await park(world)
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
    await hold(world, batch, 1)
    await park(world)

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
        "tenant_id": world.caller.tenant_id, "batch_id": batch, "job_id": 500,
        "patch": {"priority": 3}, "attributes_max": 64, "actor": "x",
    }  # fmt: skip
    async with world.during("weft_api", "edit_job", **edit):
        telling = await world.start_waiting(world.sweep())
    await telling
    ranges = await world.admin.fetchval(
        "SELECT count(*) FROM weft.runnable WHERE batch_id = $1 AND first_job > 1", batch
    )
    claimed = await worker.claim(2)

    assert ranges == 1
    assert [one.job_id for one in claimed] == [500, 2]
