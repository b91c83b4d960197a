"""A group is complete when the last of its jobs has ended: to the microsecond, before and after
the fold that records it.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest

from builders import job_rows, tree
from store.world import World
from weft.core.states import Reason
from weft.ports.store import NewSet

TREE = tree("a", "a/b")
MINUTE_US = 60_000_000
Completed = tuple[datetime | None, int]
"""When a group was complete, and how many milliseconds it lasted."""


async def ends(world: World, batch: int, group: int | str = 0) -> datetime:
    """Return the last end of the jobs of a group, from their own documents."""
    ids = await world.admin.fetch(
        "SELECT j.job_id FROM weft.job j JOIN weft.group_ancestor a ON a.batch_id = j.batch_id "
        "AND a.group_id = j.group_id WHERE j.batch_id = $1 AND a.ancestor_id = $2",
        batch,
        (await world.api.get_group(world.caller, batch, group))["group_id"],
    )
    documents = [await world.api.get_job(world.caller, batch, row["job_id"]) for row in ids]
    return max(datetime.fromisoformat(one["ended_at"]) for one in documents)


async def completed(world: World, batch: int, group: int | str = 0) -> Completed:
    """Return when a group was complete, and how long it lasted; the same in both documents."""
    found = await world.api.get_group(world.caller, batch, group)
    if group == 0:
        whole = await world.api.get_batch(world.caller, batch)
        assert whole["completed_at"] == found["completed_at"]
    at = found["completed_at"] and datetime.fromisoformat(found["completed_at"])
    return at, found["duration_ms"]


async def success(world: World) -> int:
    batch, worker = await world.submit_to_worker(job_rows(6, group=[0, 1, 2] * 2), groups=TREE)
    for one in await worker.claim():
        await worker.end(one)
    return batch


async def reports_that_travelled(world: World) -> int:
    """The one that ended last is reported first."""
    batch, worker, (one, two, three) = await world.submit_and_start(3)
    await world.age("job", "claimed_at", "started_at", by_s=3600, batch_id=batch)
    await world.age("job_group", "created_at", by_s=7200, batch_id=batch)
    for claimed, minutes in ((one, 1), (two, 20), (three, 5)):
        await worker.end(
            claimed,
            start_age_us=60 * MINUTE_US,
            end_age_us=minutes * MINUTE_US,
            reason=Reason.EXIT if minutes == 5 else None,
        )
    return batch


async def lost_and_run_again(world: World) -> int:
    batch, worker = await world.submit_to_worker(1)
    await worker.end(*await worker.claim(), reason=Reason.LOST)
    await worker.run()
    return batch


async def lost_and_cancelled(world: World) -> int:
    """It ended when it was cancelled, not with its last attempt."""
    batch, worker = await world.submit_to_worker(1)
    await worker.end(*await worker.claim(), reason=Reason.LOST)
    await world.fold()
    await world.api.cancel_jobs(world.caller, batch, [1])
    return batch


async def cancelled_while_some_ran(world: World) -> int:
    batch, worker, (one, _two) = await world.submit_and_claim(
        job_rows(4, group=[0, 1, 2, 2]), groups=TREE, limit=2
    )
    await worker.end(one)
    await world.api.cancel_group(world.caller, batch, 0, force=True)
    await world.sweep()
    await worker.end(_two, reason=Reason.CANCELLED)
    return batch


async def descendants_of_a_failure(world: World) -> int:
    parents = {2: [1], 3: [2], 4: [1]}
    batch = await world.submit(job_rows(4, group=[0, 1, 2, 2], parents=parents), groups=TREE)
    await (await world.worker()).run(reason=Reason.EXIT)
    await world.sweep()
    return batch


async def below_a_failure_from_the_commit_on(world: World) -> int:
    batch = await world.submit(1)
    await (await world.worker()).run(reason=Reason.EXIT)
    await world.submit(job_rows(2, parents={1: [-1], 2: [-1]}), batch=batch)
    await world.sweep()
    return batch


async def growth(world: World) -> int:
    batch, worker = await world.submit_and_run(1)
    await world.fold()
    await world.submit(2, batch=batch)
    await worker.run()
    return batch


STORIES: list[Callable[[World], Awaitable[int]]] = [
    success,
    reports_that_travelled,
    lost_and_run_again,
    lost_and_cancelled,
    cancelled_while_some_ran,
    descendants_of_a_failure,
    below_a_failure_from_the_commit_on,
    growth,
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
async def test_completion_is_the_end_of_the_last_job(
    world: World, story: Callable[[World], Awaitable[int]]
) -> None:
    batch = await story(world)
    count = await world.admin.fetchval(
        "SELECT count(*) FROM weft.job_group WHERE batch_id = $1", batch
    )
    before = [await completed(world, batch, group) for group in range(count)]
    expected = [await ends(world, batch, group) for group in range(count)]
    await world.fold()
    after = [await completed(world, batch, group) for group in range(count)]
    recorded = await world.admin.fetch(
        "SELECT DISTINCT ON (group_id) completed_at FROM weft.group_completion "
        "WHERE batch_id = $1 ORDER BY group_id, completion DESC",
        batch,
    )

    assert [at for at, _ in before] == expected
    assert after == before
    assert [row["completed_at"] for row in recorded] == expected


async def test_set_is_complete_with_the_last_of_its_members(world: World) -> None:
    batch = await success(world)
    await world.fold()
    by_hand, _ = await world.api.create_set(world.caller, batch, NewSet(name="x"))
    await world.api.add_members(world.caller, batch, by_hand, [2])
    first = await completed(world, batch, by_hand)
    await world.fold()
    await world.api.add_members(world.caller, batch, by_hand, [1])
    second = await completed(world, batch, by_hand)
    await world.fold()
    found = await world.api.get_group(world.caller, batch, by_hand)
    made = datetime.fromisoformat(found["created_at"])

    assert first == second == await completed(world, batch, by_hand)
    assert first == (made, 0)
    assert (await completed(world, batch))[0] == await ends(world, batch)


async def test_set_that_was_there_before_has_the_times_of_its_jobs(world: World) -> None:
    batch = await world.submit(3)
    group, _ = await world.api.create_set(world.caller, batch, NewSet(name="x"))
    worker, (one, two, three) = await world.claim()
    await worker.end(one)
    await worker.end(two)
    await worker.end(three)
    await world.api.add_members(world.caller, batch, group, [1, 2])
    before = await completed(world, batch, group)
    await world.fold()

    assert before[0] == await ends(world, batch, group)
    assert await completed(world, batch, group) == before
    assert (await completed(world, batch))[0] == await ends(world, batch)


async def test_what_runs_and_what_is_empty_has_no_completion(world: World) -> None:
    batch = await world.submit(job_rows(2), groups=TREE[:1])
    await (await world.worker()).claim(1)

    assert (await completed(world, batch))[0] is None
    assert await completed(world, batch, 1) == (None, 0)
