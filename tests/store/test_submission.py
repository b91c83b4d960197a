"""Batches, updates, groups and bunches: what is taken, what is refused, and what a repeat does."""

import asyncio

import pytest

from builders import job_rows, tree
from store.batch_steps import NEW, add, new_batch, open_update
from store.world import Worker, World
from weft.core import errors
from weft.ports.store import JobRows, NewGroup, NewSet, Origin, Shape
from weft.store.submission import _bunch


async def test_same_key_at_once_makes_one_batch(world: World) -> None:
    answers = await asyncio.gather(
        *[
            world.api.submit(
                world.caller, NEW, [], job_rows(2), Origin(key="k", digest=b"a", trace_id="")
            )
            for _ in range(4)
        ]
    )

    assert len({batch for batch, _reserved, _added_at in answers}) == 1
    assert [added_at is None for _batch, _reserved, added_at in answers].count(False) == 1


async def test_key_belongs_to_its_user(world: World) -> None:
    one, _ = await world.api.create_batch(
        world.caller, NEW, Origin(key="k", digest=b"a", trace_id="")
    )
    other, is_new = await world.api.create_batch(
        await world.user("bob"), NEW, Origin(key="k", digest=b"b", trace_id="")
    )

    assert (other != one, is_new) == (True, True)


async def test_update_with_the_same_key_is_made_once(world: World) -> None:
    batch = await new_batch(world)
    answers = [
        await world.api.submit(
            world.caller, batch, [], job_rows(2), Origin(key="u", digest=b"a", trace_id="")
        )
        for _ in range(2)
    ]

    assert [added_at is None for _batch, _reserved, added_at in answers] == [False, True]
    assert await world.states(batch) == "rr"
    with pytest.raises(errors.IdempotencyConflict):
        await world.api.submit(
            world.caller, batch, [], job_rows(2), Origin(key="u", digest=b"b", trace_id="")
        )


async def test_full_batch_takes_no_more(world: World) -> None:
    batch = await new_batch(world)
    await open_update(world, batch, 1_999_999_990)

    with pytest.raises(errors.BatchFull):
        await open_update(world, batch, 100)


async def test_same_bunch_at_once_is_added_once(world: World) -> None:
    """The second waits for the first to commit, then finds it done."""
    batch = await new_batch(world)
    update = await open_update(world, batch, 50)
    arguments = _bunch(world.caller, batch, update.update_id, job_rows(50))
    async with world.during("weft_api", "add_jobs", **arguments) as first:
        second = await world.start_waiting(add(world, batch, update, job_rows(50)))
    await world.api.commit_update(world.caller, batch, update.update_id)

    assert (first[0][0], await second) == (True, False)
    assert await world.counts(batch) == {"ready": 50}


async def test_incomplete_commit_says_what_is_missing(world: World) -> None:
    batch = await new_batch(world)
    update = await open_update(world, batch, 10)
    await add(world, batch, update, job_rows(2, first_job=3))
    await add(world, batch, update, job_rows(1, first_job=8))

    with pytest.raises(errors.UpdateIncomplete) as caught:
        await world.api.commit_update(world.caller, batch, update.update_id)
    assert "jobs 1 to 2, 5 to 7, 9 to 10 of the update are missing" in caught.value.detail


async def test_commit_without_reserved_groups_is_refused(world: World) -> None:
    batch = await new_batch(world)
    update = await open_update(world, batch, 0, n_groups=2)
    await world.api.add_groups(world.caller, batch, update.update_id, tree("a"))

    with pytest.raises(errors.UpdateIncomplete, match="incomplete") as caught:
        await world.api.commit_update(world.caller, batch, update.update_id)
    assert "2 groups, 1 were sent" in caught.value.detail


async def test_uncommitted_update_does_not_exist_for_readers_and_claimers(world: World) -> None:
    batch = await world.submit(1)
    update = await open_update(world, batch, 3, n_groups=1)
    group = NewGroup(group_id=1, parent_id=0, name="a")
    await world.api.add_groups(world.caller, batch, update.update_id, [group])
    await add(world, batch, update, job_rows(3, group=1, priority=7))
    worker = await world.worker()

    assert [one.job_id for one in await worker.claim()] == [1]
    assert await world.counts(batch) == {"running": 1}
    listed = await world.api.list_jobs(world.caller, batch, after=0, limit=10)
    groups = await world.api.list_groups(world.caller, batch, after=-1, limit=10)
    assert [job["job_id"] for job in listed] == [1]
    assert [one["group_id"] for one in groups] == [0]
    with pytest.raises(errors.JobNotFound):
        await world.api.get_job(world.caller, batch, 2)
    with pytest.raises(errors.JobNotFound):
        await world.api.cancel_jobs(world.caller, batch, [1, 2])
    with pytest.raises(errors.GroupNotFound):
        await world.api.get_group(world.caller, batch, "/a")
    with pytest.raises(errors.GroupNotFound):
        await world.api.cancel_group(world.caller, batch, 1, force=False)


async def test_parent_in_another_bunch_that_comes_later(world: World) -> None:
    batch = await new_batch(world)
    update = await open_update(world, batch, 4)
    await add(world, batch, update, job_rows(2, first_job=3, parents={3: [1], 4: [2]}))
    await add(world, batch, update, job_rows(2))
    await world.api.commit_update(world.caller, batch, update.update_id)

    assert await world.states(batch) == "rrpp"


async def test_uncommitted_parent_of_before_is_refused(world: World) -> None:
    batch = await new_batch(world)
    update = await open_update(world, batch, 1)
    await add(world, batch, update, job_rows(1))

    with pytest.raises(errors.ParentNotFound):
        await world.submit(job_rows(1, parents={1: [-1]}), batch=batch)


@pytest.mark.parametrize(
    ("rows", "groups"),
    [
        (job_rows(1, group=-1), []),
        (job_rows(1, sets={1: (-2,)}), []),
        (job_rows(1, group=1), [NewGroup(group_id=1, parent_id=-1, name="below")]),
    ],
)
async def test_uncommitted_group_of_before_is_refused(
    world: World, rows: JobRows, groups: list[NewGroup]
) -> None:
    """It does not exist for others, and is removed if its update is never committed."""
    batch = await new_batch(world)
    update = await open_update(world, batch, 1, 2)
    own = [
        NewGroup(group_id=1, parent_id=0, name="a"),
        NewGroup(group_id=2, parent_id=0, name="b", is_set=True),
    ]
    await world.api.add_groups(world.caller, batch, update.update_id, own)
    await add(world, batch, update, job_rows(1, group=-1, sets={1: (-2,)}))

    with pytest.raises(errors.GroupNotFound):
        await world.submit(rows, batch=batch, groups=groups)
    with pytest.raises(errors.GroupExists):
        await world.api.create_set(world.caller, batch, NewSet(name="b"))
    await world.api.commit_update(world.caller, batch, update.update_id)
    await world.submit(rows, batch=batch, groups=groups)


async def test_repeated_parent_counts_once(world: World, worker: Worker) -> None:
    batch = await world.submit(job_rows(2, parents={2: [1, 1, 1]}))

    assert [await worker.run(), await worker.run()] == [[1], [2]]
    assert await world.states(batch) == "ss"


async def test_group_tree_has_a_depth(world: World) -> None:
    groups = [NewGroup(group_id=n, parent_id=n - 1, name=f"g{n}") for n in range(1, 18)]
    await world.submit(1, groups=groups[:16])

    with pytest.raises(errors.GroupTooDeep):
        await world.submit(1, groups=groups)


async def test_repeat_of_groups_does_nothing(world: World) -> None:
    batch = await new_batch(world)
    update = await open_update(world, batch, 0, n_groups=2)
    groups = [NewGroup(group_id=n, parent_id=0, name=f"g{n}") for n in (1, 2)]
    for part in (groups[:1], groups, groups):
        await world.api.add_groups(world.caller, batch, update.update_id, part)
    await world.api.commit_update(world.caller, batch, update.update_id)

    assert len(await world.api.list_groups(world.caller, batch, after=-1, limit=10)) == 3


async def test_nothing_is_added_to_what_was_cancelled(world: World) -> None:
    groups = tree("a", "a/b")
    batch = await world.submit(1, groups=groups)
    opened = await open_update(world, batch, 1)
    await add(world, batch, opened, job_rows(1))
    await world.api.cancel_group(world.caller, batch, 1, force=False)

    with pytest.raises(errors.BatchCancelled, match="group /a of batch"):
        await world.submit(job_rows(1, group=-2), batch=batch)
    below = [NewGroup(group_id=1, parent_id=-2, name="c")]
    with pytest.raises(errors.BatchCancelled, match="group /a of batch"):
        await world.submit(job_rows(1), batch=batch, groups=below)
    await world.submit(1, batch=batch)
    await world.api.cancel_group(world.caller, batch, 0, force=False)
    with pytest.raises(errors.BatchCancelled, match="was cancelled"):
        await open_update(world, batch, 1)
    with pytest.raises(errors.BatchCancelled):
        await world.api.commit_update(world.caller, batch, opened.update_id)
    await world.sweep()


async def test_shapes_are_shared(world: World) -> None:
    shapes = [Shape(cpu_m=250), Shape(cpu_m=500, countables=(("licence", 2),)), Shape(cpu_m=250)]
    batch = await world.submit(job_rows(3, shapes=shapes, shape_index=[0, 1, 2]))
    numbers = [(await world.job(batch, job))["shape_id"] for job in (1, 2, 3)]

    assert numbers[0] == numbers[2] != numbers[1]
    await world.api.cancel_group(world.caller, batch, 0, force=True)
    await world.sweep()


async def test_open_updates_are_removed_when_they_are_old(world: World) -> None:
    batch = await world.submit(1)
    group = NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=3)
    update = await open_update(world, batch, 2, n_groups=1)
    await world.api.add_groups(world.caller, batch, update.update_id, [group])
    await add(world, batch, update, job_rows(2, group=1, parents={2: [1]}, names={1: "x"}))
    epoch = await world.lead()
    keep = {"events_keep_s": 1e6}
    await world.driver.remove_old(epoch, updates_keep_s=1e6, **keep)
    kept = await world.states(batch)
    while await world.driver.remove_old(epoch, updates_keep_s=0, **keep):
        pass

    assert (kept, await world.states(batch)) == ("rrp", "r")
    with pytest.raises(errors.UpdateNotFound):
        await world.api.commit_update(world.caller, batch, update.update_id)
    later = await open_update(world, batch, 1, n_groups=1)
    assert (later.first_job, later.first_group) == (4, 2)
