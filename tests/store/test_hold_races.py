"""Holds and releases while others claim, end and sweep."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from builders import job_rows
from store.test_holds import TREE, hold, numbers, park, release
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
    batch, worker, (one,) = await world.submit_and_claim(
        job_rows(3, parents={2: [1], 3: [1]}, group=[0, 1, 1]), groups=TREE
    )
    await hold(world, batch, 1)
    await park(world)
    end = {
        "incarnation_id": worker.id, "batch_ids": [batch], "job_ids": [1], "attempts": [1],
        "start_ages_us": [1000], "end_ages_us": [0], "reasons": [None], "exit_codes": [0],
        "signals": [None], "cpu_ms_list": [0], "memory_peaks": [0], "stdout_bytes_list": [0],
        "stderr_bytes_list": [0], "truncated_list": [False], "segments": [None], "offsets": [None],
        "messages": [""],
    }  # fmt: skip
    freed = {
        "tenant_id": world.caller.tenant_id, "batch_id": batch, "group_id": 1, "actor": "x",
    }  # fmt: skip
    ending, releasing = await world.connect("weft_worker"), await world.connect("weft_api")
    calls = [(ending, "complete_attempts", end), (releasing, "release_group", freed)]
    (first, name, arguments), (second, other_name, others) = calls if ended_first else calls[::-1]
    async with first.transaction():
        await call_on(first, name, **arguments)
        async with second.transaction():
            await call_on(second, other_name, **others)
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
