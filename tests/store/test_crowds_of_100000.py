"""A chain of 100,000, a job with 100,000 parents, one with 100,000 children."""

import asyncio
import time

import pytest

from builders import job_rows
from contexts import beside
from store.world import Worker, World
from weft.core.states import Reason

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]
N = 100_000
A_CALL_S = 10.0
"""Far more than a bounded set takes, far less than all of them in one transaction."""


async def settle(world: World) -> tuple[int, float]:
    """Settle children until nothing is left; return how many, and the longest call."""
    total, longest_s = 0, 0.0
    while True:
        begun = time.monotonic()
        found = await world.driver.sweep("settle_children", await world.lead(), limit_jobs=5000)
        longest_s = max(longest_s, time.monotonic() - begun)
        total += found
        if not found:
            return total, longest_s


async def test_chain_falls_without_a_long_transaction(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(N, parents={job: [job - 1] for job in range(2, N + 1)}))
    for job in range(1, 101):
        assert await worker.run() == [job]
    await worker.run(reason=Reason.EXIT)
    n_told, longest_s = await settle(world)

    assert n_told == N - 102  # the report told the first
    assert longest_s < A_CALL_S
    assert await world.counts(batch) == {"succeeded": 100, "failed": 1, "cancelled": N - 101}


async def test_children_open_without_a_long_transaction(world: World) -> None:
    batch, worker = await world.submit_and_run(
        job_rows(N + 1, parents={job: [1] for job in range(2, N + 2)})
    )
    n_told, longest_s = await settle(world)

    assert n_told == N
    assert longest_s < A_CALL_S
    assert await world.counts(batch) == {"succeeded": 1, "ready": N}
    while await worker.run(2000):
        pass
    assert await world.counts(batch) == {"succeeded": N + 1}


async def test_parents_end_in_many_hands_and_open_their_child_once(world: World) -> None:
    batch = await world.submit(job_rows(N + 1, parents={N + 1: range(1, N + 1)}))
    workers = [await world.worker(f"w{number}") for number in range(4)]
    ended: list[int] = []

    async def work(worker: Worker) -> None:
        while done := await worker.run(500):
            ended.extend(done)

    async def drive() -> None:
        while len(ended) <= N:
            await world.driver.sweep("count_parent_ends", await world.lead(), limit_jobs=1000)
            await world.fold()

    async with beside(drive()):
        while len(ended) <= N:
            await asyncio.gather(*map(work, workers))

    assert sorted(ended) == list(range(1, N + 2))
    assert ended[-1] == N + 1
    assert await world.counts(batch) == {"succeeded": N + 1}
