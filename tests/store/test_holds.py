"""Holds of batches, groups and jobs, what they change, and their history."""

import asyncio
from typing import Any

import pytest

from builders import job_rows
from store.barriers import TREE, hold, hold_and_park, numbers, park, parked, release
from store.batch_steps import open_update
from store.world import Worker, World
from weft.core import errors
from weft.core.states import Reason
from weft.ports.store import EditLimits


async def held(world: World, batch: int) -> list[int]:
    jobs = await world.api.list_jobs(world.caller, batch, after=0, limit=1000)
    return [job["job_id"] for job in jobs if job["held"]]


async def tree_of(world: World, **more: Any) -> int:  # noqa: ANN401 (as job_rows)
    """Submit eight jobs: two in each of the groups 0 to 3, one of each with a priority."""
    rows = job_rows(8, group=[0, 0, 1, 1, 2, 2, 3, 3], priority=[0, 1] * 4, **more)
    return await world.submit(rows, groups=TREE)


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize(
    ("group", "claimable"),
    [(0, []), (1, [1, 2, 7, 8]), (2, [1, 2, 3, 4, 7, 8]), (3, [1, 2, 3, 4, 5, 6])],
)
async def test_held_group_is_not_claimed_until_it_is_released(
    world: World, group: int, claimable: list[int], *, swept: bool
) -> None:
    batch = await tree_of(world)
    worker = await world.worker()
    assert (await hold(world, batch, group), await hold(world, batch, group)) == (True, False)
    if swept:
        await park(world)
        assert await parked(world, batch) == [
            n for n in range(1, 9) if n not in claimable and (group or n % 2 == 0)
        ]
    document = await world.api.get_group(world.caller, batch, group)

    assert await held(world, batch) == [n for n in range(1, 9) if n not in claimable]
    assert (document["held"], document["n_ready"]) == (True, document["n_jobs"])
    assert numbers(await worker.claim()) == claimable
    assert await worker.waits()
    assert (await release(world, batch, group), await release(world, batch, group)) == (
        True,
        False,
    )
    assert await held(world, batch) == []
    assert not await worker.waits()
    assert numbers(await worker.claim()) == [n for n in range(1, 9) if n not in claimable]
    await park(world)
    assert await world.states(batch) == "R" * 8


async def test_set_is_held_whatever_tree_groups_its_jobs_are_in(world: World) -> None:
    batch = await tree_of(world)
    worker = await world.worker()
    await world.api.add_members(world.caller, batch, 4, [2, 3, 5])
    await hold_and_park(world, batch, 4)
    await world.api.add_members(world.caller, batch, 4, [8, 1])
    await park(world)

    assert await parked(world, batch) == [1, 2, 3, 5, 8]
    assert numbers(await worker.claim()) == [4, 6, 7]
    await release(world, batch, 4)
    assert numbers(await worker.claim()) == [1, 2, 3, 5, 8]


async def test_nested_holds_are_released_one_by_one(world: World, worker: Worker) -> None:
    batch = await tree_of(world)
    for group in (0, 1, 2):
        await hold(world, batch, group)
    await world.api.hold_jobs(world.caller, batch, [6, 7])
    await park(world)

    assert await held(world, batch) == list(range(1, 9))
    await release(world, batch)
    await park(world)
    assert numbers(await worker.claim()) == [1, 2, 8]
    await release(world, batch, 1)
    await park(world)
    assert numbers(await worker.claim()) == [3, 4]
    await release(world, batch, 2)
    await park(world)
    assert numbers(await worker.claim()) == [5]
    assert await world.api.release_jobs(world.caller, batch, [6, 7]) == {
        6: "released",
        7: "released",
    }
    assert numbers(await worker.claim()) == [6, 7]


async def test_single_jobs_are_held_and_released(world: World) -> None:
    batch, worker, (one,) = await world.submit_and_claim(
        job_rows(5, parents={5: [4]}, priority=[0, 1, 0, 0, 0]), limit=1
    )
    await worker.end(one)
    (two,) = await worker.claim(1)
    api, caller = world.api, world.caller
    answer = await api.hold_jobs(caller, batch, [1, 2, 3, 5, 5])

    assert answer == {1: "held", 2: "success", 3: "held", 5: "held"}
    assert two.job_id == 1
    assert await held(world, batch) == [1, 3, 5]
    assert await parked(world, batch) == [3]
    assert numbers(await worker.claim()) == [4]
    assert await worker.waits()
    assert await api.release_jobs(caller, batch, [2, 3]) == {2: "success", 3: "released"}
    assert numbers(await worker.claim()) == [3]
    with pytest.raises(errors.JobNotFound):
        await api.hold_jobs(caller, batch, [3, 6])
    assert await held(world, batch) == [1, 5]


async def test_running_attempts_go_on_and_lost_ones_wait(world: World) -> None:
    batch, worker, (one, two, three) = await world.submit_and_start(
        job_rows(3, max_attempts=3, retry_on=[Reason.EXIT])
    )
    await hold_and_park(world, batch)

    assert (await worker.beat(one, two, three)).to_stop == []
    assert await worker.end(one) == ["ok"]
    await worker.end(two, reason=Reason.EXIT)
    await worker.end(three, reason=Reason.LOST)
    assert await worker.waits()
    await park(world)
    assert await parked(world, batch) == [2, 3]
    assert await worker.claim() == []
    assert await world.states(batch) == "srr"
    await release(world, batch)
    assert numbers(await worker.claim()) == [2, 3]


async def test_children_that_become_ready_are_held(world: World, worker: Worker) -> None:
    batch = await world.submit(
        job_rows(4, parents={2: [1], 3: [1], 4: [1]}, group=[0, 1, 1, 3]), groups=TREE
    )
    await hold_and_park(world, batch, 1)
    await worker.run()
    unparked = await worker.waits()
    await park(world)

    assert not unparked  # job 4
    assert await parked(world, batch) == [2, 3]
    assert numbers(await worker.claim()) == [4]
    assert await worker.waits()
    await release(world, batch, 1)
    assert numbers(await worker.claim()) == [2, 3]


@pytest.mark.parametrize("group", [0, 1])
async def test_jobs_that_are_submitted_later_are_held(world: World, group: int) -> None:
    batch = await tree_of(world)
    worker = await world.worker()
    await hold_and_park(world, batch, group)
    rows = job_rows(4, group=[-1, -3, -2, -2], priority=[0, 0, 0, 7], parents={2: [-1]})
    await world.submit(rows, batch=batch)
    await park(world)
    expected = [] if group == 0 else [1, 2, 7, 8]

    assert numbers(await worker.claim()) == expected
    assert await worker.waits()
    await release(world, batch, group)
    assert numbers(await worker.claim()) == sorted({*range(1, 9), 9, 11, 12} - {*expected})


async def test_update_that_is_committed_while_held_is_parked_whenever_it_was_filled(
    world: World,
) -> None:
    """Jobs that no commit has shown yet are left alone: their update may be given up."""
    batch = await tree_of(world)
    api, caller = world.api, world.caller
    update = await open_update(world, batch, 2)
    await api.add_jobs(caller, batch, update.update_id, job_rows(2, group=-1, priority=[0, 3]))
    await hold_and_park(world, batch, 1)
    before = await parked(world, batch)
    await api.commit_update(caller, batch, update.update_id)
    await park(world)

    assert (before, await parked(world, batch)) == ([3, 4, 5, 6], [3, 4, 5, 6, 9, 10])
    await release(world, batch, 1)
    assert len(await (await world.worker()).claim()) == 10


async def test_cancel_ends_what_is_held(world: World, worker: Worker) -> None:
    batch = await tree_of(world, always_run=[False] * 7 + [True])
    await hold_and_park(world, batch)
    await world.api.cancel_jobs(world.caller, batch, [3, 4])
    await world.cancel(batch, 2)

    assert await world.states(batch) == "rrccccrr"
    assert await held(world, batch) == [1, 2, 7, 8]
    await world.cancel(batch)
    assert await world.states(batch) == "cccccccr"
    assert await worker.waits()
    await release(world, batch)
    await worker.run()
    assert await world.states(batch) == "ccccccc" + "s"
    assert await world.api.hold_jobs(world.caller, batch, [3, 8]) == {3: "cancelled", 8: "success"}


@pytest.mark.heavy
async def test_held_jobs_leave_their_range(world: World, worker: Worker) -> None:
    """Claimers do not walk over them again and again, not even while they are being parked."""
    n_jobs = 12_000
    batch = await world.submit(job_rows(n_jobs, group=[1] * 11_900 + [0] * 100), groups=TREE)
    await hold(world, batch, 1)
    near = await worker.claim(10)
    asleep = await worker.waits()
    steps = await park(world, 1000)
    low = await world.admin.fetchval(
        "SELECT low_job FROM weft.runnable WHERE batch_id = $1", batch
    )

    assert (near, asleep) == ([], True)
    assert 11 < steps < 20
    assert low == 11_901
    assert len(await worker.claim(1000)) == 100
    await release(world, batch, 1)
    assert len(await worker.claim(5000)) == 1000  # listed by the release itself
    await park(world, 1000)
    assert len(await worker.claim(20_000)) == 10_900
    rows = await world.admin.fetch("SELECT FROM weft.group_hold WHERE batch_id = $1", batch)
    assert rows == []


async def test_ranges_of_a_held_batch_are_hidden(world: World) -> None:
    batch = await world.submit(job_rows(3))
    await hold_and_park(world, batch)
    pools = "SELECT gate_set_id = 0 AS seen FROM weft.runnable WHERE batch_id = $1"

    assert [row["seen"] for row in await world.admin.fetch(pools, batch)] == [False]
    await world.submit(job_rows(3), batch=batch)
    await park(world)
    assert [row["seen"] for row in await world.admin.fetch(pools, batch)] == [False] * 2
    await release(world, batch)
    assert [row["seen"] for row in await world.admin.fetch(pools, batch)] == [True] * 2
    assert len(await (await world.worker()).claim()) == 6


async def test_hold_again_before_all_is_listed(world: World, worker: Worker) -> None:
    batch = await tree_of(world)
    await hold_and_park(world, batch, 1)
    await release(world, batch, 1)
    await world.driver.sweep("sweep_holds", await world.lead(), limit_jobs=1)
    await hold(world, batch, 1)

    assert numbers(await worker.claim()) == [1, 2, 7, 8]
    await park(world)
    assert await parked(world, batch) == [3, 4, 5, 6]


@pytest.mark.parametrize("group", [0, 1])
async def test_everybody_sleeps_while_all_is_held(own_world: World, group: int) -> None:
    batch = await own_world.submit(job_rows(4, group=1, priority=[0, 0, 3, 3]), groups=TREE)
    worker = await own_world.worker()
    epoch = await own_world.lead()
    await own_world.fold()
    await hold(own_world, batch, group)
    busy = await own_world.driver.idle_driver(epoch)
    await park(own_world)
    await own_world.fold()

    assert not busy
    assert await own_world.driver.idle_driver(epoch)
    assert await worker.waits()
    assert not (await worker.beat()).has_work
    notices = asyncio.create_task(_first_notice(own_world, "driver"))
    await _listening(own_world, "driver")
    await release(own_world, batch, group)
    await notices
    assert (await worker.beat()).has_work


async def _first_notice(world: World, channel: str) -> None:
    async for name, _payload in world.driver.notices.listen(channel):
        if name:
            return


async def _listening(world: World, channel: str) -> None:
    asked = (
        "SELECT count(*) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%' || $1 || '%' "
        "AND datname = current_database() AND state = 'idle'"  # and not still at it
    )
    async with asyncio.timeout(30):
        while not await world.admin.fetchval(asked, channel):
            await asyncio.sleep(0)


async def test_holds_and_releases_are_told_with_who_made_them(world: World) -> None:
    batch = await world.submit(job_rows(2, group=[2, 0]), groups=TREE)
    api, caller = world.api, world.caller
    start = await api.events_now()
    await hold(world, batch, 1)
    await hold(world, batch)
    await release(world, batch)
    await api.hold_jobs(caller, batch, [1])
    await release(world, batch, 1)
    await api.release_jobs(caller, batch, [1])
    await api.release_jobs(caller, batch, [1])
    await (await world.worker()).run()
    await hold(world, batch)
    history = await api.job_history(caller, batch, 1)
    events, _ = await api.list_events(caller, after=start, batch_id=batch, limit=20)

    made = [h for h in history if h["subtype"] in {"held", "released"}]
    assert [(h["subtype"], h["message"]) for h in made] == [
        ("held", "group /a"),
        ("held", "batch"),
        ("released", "batch"),
        ("held", None),
        ("released", "group /a"),
        ("released", None),
    ]
    assert {(h["from"], h["to"], h["actor"]) for h in made} == {("ready", "ready", "user ada")}
    assert [e["kind"] for e in events][:6] == [
        "group.held",
        "batch.held",
        "batch.released",
        "jobs.held",
        "group.released",
        "jobs.released",
    ]
    changes = await api.group_history(caller, batch, 0, before=None, limit=9)
    assert [change["kind"] for change in changes] == ["held", "released", "held"]


async def test_job_that_came_into_a_held_group_knows_since_when(world: World) -> None:
    batch = await world.submit(0, groups=TREE)
    await hold(world, batch, 3)
    await release(world, batch, 3)
    await hold(world, batch, 1)
    limits = EditLimits(attributes_max=9, rename_groups_max=9)
    await world.api.edit_group(world.caller, batch, 1, patch={"name": "z"}, limits=limits)
    await world.submit(job_rows(2, group=[-1, -3]), batch=batch)
    one = await world.api.job_history(world.caller, batch, 1)
    two = await world.api.job_history(world.caller, batch, 2)

    assert [(h["to"], h["subtype"], h["message"]) for h in one] == [
        ("ready", "update 2", None),
        ("ready", "held", "group /z"),
    ]
    assert [h["subtype"] for h in two] == ["update 2"]
    assert one[0]["at"] == one[1]["at"]
