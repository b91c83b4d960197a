"""Jobs that wait move to another queue: counted, listed and limited there, and never lost."""

import asyncio
from collections.abc import Sequence

import pytest

from builders import job_rows
from store.barriers import hold_and_park, park, release, visit
from store.world import Worker, World
from weft.core.queues import Queue
from weft.ports.store import JobRows, Shape


async def save(world: World, *, max_running: int | None = None) -> None:
    """Make the queues `from` and `to` of the world's tenant."""
    await world.api.save_queues(
        world.caller,
        [
            Queue(name="from", priority=1, pools=(world.pool,)),
            Queue(name="to", priority=2, pools=(world.pool,), max_running=max_running),
        ],
    )


def rows_of(world: World, count: int, queue: str = "from", **more: object) -> JobRows:
    """Return jobs of a queue."""
    words = (("pool", world.pool), ("queue", queue))
    return job_rows(count, shapes=[Shape(words=words)], **more)  # type: ignore[arg-type]


async def move(world: World, batch: int, jobs: Sequence[int], queue: str = "to") -> int:
    return await world.api.move_jobs(world.caller, batch, jobs, queue=queue, pool=world.pool)


async def counts(world: World) -> dict[str, tuple[int, int]]:
    rows = await world.api.list_queues(world.caller)
    return {row["name"]: (row["n_waiting"], row["n_running"]) for row in rows}


async def test_ranged_listed_and_pending_jobs_move_and_running_ones_stay(world: World) -> None:
    await save(world)
    batch, worker, claimed = await world.submit_and_claim(
        rows_of(world, 6, parents={6: [1]}, priority=[9, 5, 0, 0, 0, 0]), limit=1
    )

    assert await move(world, batch, range(1, 7)) == 5
    assert await counts(world) == {"to": (5, 0), "from": (0, 1), "default": (0, 0)}
    assert await move(world, batch, range(1, 7)) == 0
    await worker.end(*claimed)
    await world.fold()
    assert await counts(world) == {"to": (5, 0), "from": (0, 0), "default": (0, 0)}
    only = await world.worker("only", queue=["to"])
    assert [one.job_id for one in await only.claim()] == [2, 3, 4, 5, 6]


@pytest.mark.parametrize("queue", ["to", "default"])
async def test_moved_jobs_pass_the_gates_of_their_queue_and_no_others(
    world: World, queue: str
) -> None:
    """Also those that had a place there already."""
    await save(world, max_running=1)
    batch = await world.submit(rows_of(world, 4, "from" if queue == "to" else "to"))
    assert await move(world, batch, [1, 2, 3], queue) == 3
    await visit(world)
    claimed = await (await world.worker()).claim()

    assert [one.job_id for one in claimed] == ([1, 4] if queue == "to" else [1, 2, 3, 4])


async def test_held_jobs_move_and_stay_held(world: World) -> None:
    await save(world)
    batch = await world.submit(rows_of(world, 3))
    await hold_and_park(world, batch)
    assert await move(world, batch, [1, 2, 3]) == 3
    worker, nobody = await world.claim()
    await release(world, batch)
    await park(world)

    assert nobody == []
    assert len(await worker.claim()) == 3
    assert await counts(world) == {"to": (0, 3), "from": (0, 0), "default": (0, 0)}


async def test_claims_and_moves_at_once_lose_no_job(world: World, worker: Worker) -> None:
    """To and fro, while a worker claims and ends."""
    await save(world, max_running=3)
    batch = await world.submit(rows_of(world, 200))
    done: list[int] = []

    async def work() -> None:
        while len(done) < 200:
            done.extend(await worker.run(5))
            await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=100)

    async def moves() -> None:
        queues = ["to", "from", "default"]
        for turn in range(30):
            first = turn * 7 % 150
            await move(world, batch, range(first + 1, first + 51), queues[turn % 3])

    async with asyncio.timeout(60):
        await asyncio.gather(work(), moves())
    assert sorted(done) == list(range(1, 201))
    assert await world.states(batch) == "s" * 200


async def test_waiting_jobs_are_listed_batch_by_batch(world: World) -> None:
    await save(world)
    first = await world.submit(rows_of(world, 3))
    await world.fold()
    second = await world.submit(rows_of(world, 2, "to"))
    at, found = (0, 0), []
    while page := await world.api.list_waiting(world.caller, after=at, limit=2):
        at = (page.batch_id, page.last_job)
        found += [(page.batch_id, job["job_id"], job["asked"]["queue"]) for job in page.jobs]

    assert found == [
        *[(first, number, "from") for number in (1, 2, 3)],
        *[(second, number, "to") for number in (1, 2)],
    ]
