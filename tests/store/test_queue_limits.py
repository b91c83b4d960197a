"""Limits of queues: how many of their jobs run, in all and of each user, and how many may wait."""

import asyncio
from typing import Any

import pytest

from builders import job_rows
from store.barriers import places, visit
from store.world import World
from weft.core.errors import QueueFull
from weft.core.queues import Queue
from weft.ports.store import Claimed, JobRows, Shape


async def save(world: World, **limits: Any) -> None:  # noqa: ANN401 (fields of Queue)
    """Make the queue `big` of the world's tenant."""
    queue = Queue(name="big", priority=1, pools=(world.pool,), **limits)
    await world.api.save_queues(world.caller, [queue])


def rows_of(world: World, count: int, **more: Any) -> JobRows:  # noqa: ANN401 (fields of JobRows)
    """Return jobs of the queue."""
    words = (("pool", world.pool), ("queue", "big"))
    return job_rows(count, shapes=[Shape(words=words)], **more)


def numbers(claimed: list[Claimed], batch: int) -> list[int]:
    """Return which jobs of a batch these are."""
    return sorted(one.job_id for one in claimed if one.batch_id == batch)


async def test_queue_runs_no_more_jobs_than_its_limit_whatever_their_batches(world: World) -> None:
    """The jobs of the default queue are not counted; the next job needs no driver."""
    await save(world, max_running=2)
    first = await world.submit(rows_of(world, 3))
    second = await world.submit(rows_of(world, 2))
    free, worker, claimed = await world.submit_and_claim(3)

    assert numbers(claimed, first) == [1, 2]
    assert numbers(claimed, second) == []
    assert numbers(claimed, free) == [1, 2, 3]
    await worker.end(*[one for one in claimed if one.batch_id == first])
    again = await worker.claim()
    assert (numbers(again, first), numbers(again, second)) == ([3], [1])


async def test_each_user_has_places_of_their_own(world: World) -> None:
    bob = await world.user("bob")
    await save(world, max_running=3, max_running_per_user=2)
    hers = await world.submit(rows_of(world, 4))
    his, worker, claimed = await world.submit_and_claim(rows_of(world, 4), caller=bob)

    assert (numbers(claimed, hers), numbers(claimed, his)) == ([1, 2], [1])
    await worker.end(*[one for one in claimed if one.batch_id == his])
    again = await worker.claim()
    assert (numbers(again, hers), numbers(again, his)) == ([], [2])


async def test_limit_is_one_more_gate_of_jobs_that_have_some(world: World) -> None:
    """Of an array, of a batch with max_running, of jobs with a key."""
    await save(world, max_running=3)
    gate = {"kind": "concurrency_key", "key": world.pool, "max_places": 1}
    keyed = rows_of(world, 2)
    keyed.rare_job, keyed.rare_fields = [1, 2], [{"gates": [gate]}] * 2
    first = await world.submit(keyed)
    second, worker, claimed = await world.submit_and_claim(rows_of(world, 5), max_running=1)

    assert (numbers(claimed, first), numbers(claimed, second)) == ([1], [1])
    third = await world.submit(rows_of(world, 3))
    assert numbers(await worker.claim(), third) == [1]


async def test_limits_change_and_go_while_jobs_wait(world: World) -> None:
    """Nobody is stopped when a limit is lowered."""
    await save(world, max_running=1)
    batch, worker, running = await world.submit_and_claim(rows_of(world, 9))
    await save(world, max_running=4)
    await visit(world)
    running += await worker.claim()
    await save(world, max_running=2)
    await visit(world)
    await worker.end(*running[:2])
    nobody = await worker.claim()
    await worker.end(running[2])
    next_one = await worker.claim()
    await save(world)
    await visit(world)

    assert (len(running), nobody, len(next_one)) == (4, [], 1)
    assert numbers(await worker.claim(), batch) == [6, 7, 8, 9]
    later = await world.submit(rows_of(world, 3))
    assert numbers(await worker.claim(), later) == [1, 2, 3]
    assert await places(world, later) == []


async def test_new_limit_holds_for_jobs_that_are_submitted_later(world: World) -> None:
    await save(world)
    before = await world.submit(rows_of(world, 3))
    await save(world, max_running=1)
    after = await world.submit(rows_of(world, 3))
    claimed = await (await world.worker()).claim()

    assert (numbers(claimed, before), numbers(claimed, after)) == ([1, 2, 3], [1])


async def test_full_queue_refuses_more_and_keeps_nothing(world: World) -> None:
    """Pending jobs wait, too; what runs does not. The default queue takes all."""
    await save(world, max_waiting=3)
    batch = await world.submit(rows_of(world, 3, parents={2: [1], 3: [1]}))
    with pytest.raises(QueueFull) as refusal:
        await world.submit(rows_of(world, 1))
    _, _worker = await world.submit_and_run(5)
    more = await world.submit(rows_of(world, 1))

    assert "3 jobs wait there and 1 would come; it takes at most 3" in str(refusal.value)
    assert await world.states(batch) == "srr"
    assert await world.states(more) == "r"


async def test_two_submissions_at_once_do_not_overfill_a_queue(world: World) -> None:
    await save(world, max_waiting=5)
    answers = await asyncio.gather(
        *[world.submit(rows_of(world, 2)) for _ in range(6)], return_exceptions=True
    )
    taken = [one for one in answers if isinstance(one, int)]

    assert len(taken) == 2
    assert {type(one) for one in answers} == {int, QueueFull}
    found = {one["name"]: one["n_waiting"] for one in await world.api.list_queues(world.caller)}
    assert found["big"] == 4


async def test_audit_finds_a_job_behind_the_gate_of_another_queue(world: World) -> None:
    await save(world, max_running=1)
    await world.submit(rows_of(world, 1))
    found = await world.findings_after(
        "UPDATE weft.gate SET key = key || 'x' WHERE kind = 'queue' AND key = $1",
        f"t{world.caller.tenant_id}/big",
    )

    assert [row["job_id"] for row in found.pop("queue_gates_are_of_the_queue")] == [1]
    assert found == {}


async def test_many_children_that_become_ready_together_pass_the_gate(world: World) -> None:
    """They would be a range, which has only the gates of its batch."""
    await save(world, max_running=2)
    children = range(2, 2_002)
    batch, worker = await world.submit_and_run(
        rows_of(world, 2_001, parents={child: [1] for child in children})
    )
    await world.sweep()

    assert len(await worker.claim()) == 2
    assert (await world.states(batch)).count("R") == 2
