"""A new priority moves what waits, whatever state, list or group it is in."""

import pytest

from builders import job_rows
from store.barriers import TREE, hold, hold_and_park, numbers, park, parked, release
from store.batch_steps import open_update
from store.world import Worker, World
from weft.core import errors
from weft.core.states import Reason
from weft.driver.operations import advance_operation
from weft.ports.store import EditLimits, Operation

LIMITS = EditLimits(attributes_max=64, rename_groups_max=1000)


async def prioritize_job(world: World, batch: int, job: int, priority: int) -> bool:
    return await world.api.edit_job(
        world.caller, batch, job, patch={"priority": priority}, limits=LIMITS
    )


async def ask(world: World, batch: int, group: int, priority: int) -> int:
    """Begin to change a group; return the operation."""
    return await world.api.prioritize_group(
        world.caller, batch, group, patch={"priority": priority}, limits=LIMITS, trace_id="0" * 32
    )


async def running(world: World, batch: int) -> list[Operation]:
    operations = await world.driver.running_operations(await world.lead())
    return [one for one in operations if one.batch_id == batch]


async def steps(world: World, batch: int, *, limit: int = 2000) -> list[str]:
    """Give each running operation of the batch one step; return what came of them."""
    return [
        await world.backend.driver._database.value(
            "set_priorities",
            epoch=await world.lead(),
            of_operation_id=one.operation_id,
            limit_rows=limit,
        )
        for one in await running(world, batch)
    ]


async def prioritize(world: World, batch: int, group: int, priority: int) -> dict[str, object]:
    """Change a group; return the document of the operation."""
    operation = await ask(world, batch, group, priority)
    while await running(world, batch):
        await steps(world, batch)
    return dict(await world.api.get_operation(world.caller, operation))


async def priorities(world: World, batch: int) -> list[int]:
    rows = await world.admin.fetch(
        "SELECT priority FROM weft.job WHERE batch_id = $1 ORDER BY job_id", batch
    )
    return [row["priority"] for row in rows]


async def order(world: World) -> list[int]:
    """Claim everything, one by one; return the order."""
    worker = await world.worker("in-order")
    found = []
    while claimed := await worker.claim(1):
        found += [one.job_id for one in claimed]
    return found


async def test_job_of_a_range_is_listed_and_claimed_first(world: World) -> None:
    batch = await world.submit(4)
    changed = await prioritize_job(world, batch, 3, 5)
    again = await prioritize_job(world, batch, 3, 5)
    await prioritize_job(world, batch, 2, -1)
    job = await world.api.get_job(world.caller, batch, 3)

    assert (changed, again, job["priority"]) == (True, False, 5)
    assert await order(world) == [3, 1, 4, 2]


async def test_listed_jobs_move_to_their_new_rank(world: World) -> None:
    batch = await world.submit(job_rows(4, priority=[3, 2, 1, 0]))
    await prioritize_job(world, batch, 1, 0)
    await prioritize_job(world, batch, 3, 1000)
    await prioritize_job(world, batch, 2, -1000)

    assert await order(world) == [3, 1, 4, 2]


async def test_job_that_went_back_to_0_is_claimed_once(world: World) -> None:
    batch = await world.submit(3)
    for priority in (7, 0, 7, 0):
        await prioritize_job(world, batch, 2, priority)
        await world.fold()

    assert await order(world) == [2, 1, 3]  # listed ones of a rank come before ranges


async def test_pending_and_running_ones_keep_it_until_they_are_ready(world: World) -> None:
    rows = job_rows(5, parents={3: [1], 4: [1]}, max_attempts=3, retry_on=[Reason.EXIT])
    batch, worker, (one, two) = await world.submit_and_start(rows, limit=2)
    await prioritize_job(world, batch, 4, 2)
    await prioritize_job(world, batch, 2, 3)
    states = await world.states(batch)
    await worker.end(one)
    await worker.end(two, reason=Reason.EXIT)

    assert states == "RRppr"
    assert await order(world) == [2, 4, 3, 5]


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("priority", [0, 4])
async def test_held_jobs_stay_parked_and_come_back_in_their_new_order(
    world: World, worker: Worker, priority: int, *, swept: bool
) -> None:
    batch = await world.submit(job_rows(4, group=1, priority=[priority] * 4), groups=TREE)
    await hold(world, batch, 1)
    if swept:
        await park(world)
    await prioritize_job(world, batch, 3, 5)
    await park(world)

    assert await worker.waits()
    assert await worker.claim() == []
    assert await parked(world, batch) == [1, 2, 3, 4]
    await release(world, batch, 1)
    await park(world)
    assert await order(world) == [3, 1, 2, 4]


async def test_job_of_a_held_batch_is_parked_when_it_leaves_its_range(world: World) -> None:
    batch, worker = await world.submit_to_worker(3)
    await hold_and_park(world, batch)
    await prioritize_job(world, batch, 2, 1)
    await park(world)

    assert await worker.waits()
    assert await parked(world, batch) == [2]
    await release(world, batch)
    assert await order(world) == [2, 1, 3]


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (0, [9] * 8),
        (1, [0, 1, 9, 9, 9, 9, 0, 1]),
        (2, [0, 1, 0, 1, 9, 9, 0, 1]),
        (3, [0, 1, 0, 1, 0, 1, 9, 9]),
        (4, [0, 9, 9, 1, 9, 1, 0, 1]),
    ],
)
async def test_group_and_all_below_it_and_no_other_jobs_change(
    world: World, group: int, expected: list[int]
) -> None:
    rows = job_rows(8, group=[0, 0, 1, 1, 2, 2, 3, 3], priority=[0, 1] * 4)
    batch = await world.submit(rows, groups=TREE)
    await world.api.add_members(world.caller, batch, 4, [2, 3, 5])
    document = await prioritize(world, batch, group, 9)

    assert await priorities(world, batch) == expected
    n_changed = expected.count(9)
    assert document["state"] == "success"
    assert (document["kind"], document["done"], document["total"]) == ("set_priority", 8, 8)
    assert document["result"] == {"group_id": group, "priority": 9, "n_changed": n_changed}
    high = [job for job in range(1, 9) if expected[job - 1] == 9]
    assert (await order(world))[:n_changed] == high


async def test_steps_are_bounded_and_go_on_where_the_last_one_ended(world: World) -> None:
    batch, worker = await world.submit_to_worker(25)
    operation = await ask(world, batch, 0, 3)
    seen = []
    for _ in range(3):
        outcomes = await steps(world, batch, limit=10)
        document = await world.api.get_operation(world.caller, operation)
        seen.append((*outcomes, document["done"], document["total"], document["state"]))

    assert seen == [
        ("moved", 10, 25, "running"),
        ("moved", 20, 25, "running"),
        ("moved", 25, 25, "success"),
    ]
    assert numbers(await worker.claim()) == list(range(1, 26))


async def test_what_ended_runs_or_was_added_later_is_as_it_should_be(world: World) -> None:
    batch, worker = await world.submit_and_run(job_rows(4, max_attempts=2), limit=1)
    (running_one,) = await worker.claim(1)
    reserved = await open_update(world, batch, 2)
    update = reserved.update_id
    await world.api.add_jobs(world.caller, batch, update, job_rows(2, priority=[0, 1]))
    await ask(world, batch, 0, 7)
    await world.api.commit_update(world.caller, batch, update)
    await world.submit(1, batch=batch)
    await steps(world, batch)

    assert await priorities(world, batch) == [0, 7, 7, 7, 0, 1, 0]
    assert (await worker.end(running_one, reason=Reason.LOST)) == ["ok"]
    assert await order(world) == [2, 3, 4, 6, 5, 7]


async def test_the_later_change_wins_whatever_it_is_of(world: World) -> None:
    rows = job_rows(6, group=[0, 0, 1, 1, 2, 2])
    batch = await world.submit(rows, groups=TREE)
    await ask(world, batch, 0, 9)
    await ask(world, batch, 1, 0)
    await prioritize_job(world, batch, 1, 2)
    await prioritize_job(world, batch, 6, 0)  # it has that, but would lose it
    outcomes = await steps(world, batch, limit=1)
    while await running(world, batch):
        await steps(world, batch, limit=1)

    assert outcomes == ["moved", "waits"]
    assert await priorities(world, batch) == [2, 9, 0, 0, 0, 0]
    assert await order(world) == [2, 1, 3, 4, 5, 6]


async def test_cancelled_batch_has_nothing_to_change_but_what_always_runs(world: World) -> None:
    batch = await world.submit(job_rows(4, always_run=[False, False, True, True]))
    await world.api.cancel_group(world.caller, batch, 0, force=False)
    await prioritize_job(world, batch, 4, 5)
    await prioritize_job(world, batch, 1, 5)
    early = await prioritize(world, batch, 0, 6)
    await world.sweep()
    late = await prioritize(world, batch, 0, 7)

    assert (early["state"], late["state"]) == ("success", "success")
    assert late["result"] == {"group_id": 0, "priority": 7, "n_changed": 2}
    assert await world.states(batch) == "ccrr"
    assert await order(world) == [3, 4]


async def test_history_and_events_say_who_changed_a_group(world: World) -> None:
    batch = await world.submit(job_rows(2, group=[0, 1]), groups=TREE)
    operation = await world.api.prioritize_group(
        world.caller,
        batch,
        1,
        patch={"priority": -3, "attributes": {"k": "v"}},
        limits=LIMITS,
        trace_id="0" * 32,
    )
    await advance_operation(world.driver, await world.lead(), (await running(world, batch))[0])
    changes = await world.api.group_history(world.caller, batch, 1, before=None, limit=9)
    events = await world.admin.fetch(
        "SELECT kind, jobs, groups FROM weft.event WHERE batch_id = $1 AND event_id > ("
        "SELECT max(event_id) FROM weft.event WHERE batch_id = $1 AND kind = 'update.committed') "
        "ORDER BY event_id",
        batch,
    )
    of_jobs = [await world.api.job_history(world.caller, batch, job) for job in (1, 2)]

    assert [(one["kind"], one["actor"], one["message"]) for one in changes] == [
        ("prioritized", "user ada", "priority is -3"),
        ("edited", "user ada", 'attributes "k"'),
    ]
    assert [(row["kind"], row["groups"], row["jobs"]) for row in events] == [
        ("group.edited", [1], []),
        ("group.prioritized", [1], []),
        ("jobs.prioritized", [], [2]),
        ("operation.success", [1], []),
    ]
    assert (await world.api.get_operation(world.caller, operation))["state"] == "success"
    assert [len(history) for history in of_jobs] == [1, 2]
    assert of_jobs[1][1]["subtype"] == "prioritized"
    assert of_jobs[1][1]["message"] == "priority is -3, of group /a"


async def test_taken_name_with_a_priority_changes_neither(world: World) -> None:
    batch = await world.submit(job_rows(1, group=1), groups=TREE)
    with pytest.raises(errors.GroupExists):
        await world.api.prioritize_group(
            world.caller,
            batch,
            1,
            patch={"priority": 5, "name": "c"},
            limits=LIMITS,
            trace_id="0" * 32,
        )

    assert await running(world, batch) == []
    assert await world.api.group_history(world.caller, batch, 1, before=None, limit=9) == []
