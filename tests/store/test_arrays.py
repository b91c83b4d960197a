"""Arrays: rows made in the database from one template, mixed with ordinary jobs, with parents."""

import pytest

from builders import array_rows, tree
from store.batch_steps import new_batch, open_update
from store.world import World
from weft.core import errors
from weft.core.states import Reason
from weft.ports.store import NewGroup, Shape


async def test_template_is_stored_once(world: World) -> None:
    batch = await world.submit(array_rows(20_000))
    stored = await world.admin.fetchrow(
        "SELECT (SELECT count(*) FROM weft.job WHERE batch_id = $1) AS jobs, "
        "(SELECT count(*) FROM weft.job_spec WHERE batch_id = $1) AS specs, "
        "(SELECT count(*) FROM weft.job_label WHERE batch_id = $1) AS labels, "
        "(SELECT count(*) FROM weft.job_array WHERE batch_id = $1) AS arrays, "
        "(SELECT count(*) FROM weft.runnable WHERE batch_id = $1) AS ranges",
        batch,
    )

    assert tuple(stored) == (20_000, 1, 0, 1, 1)


async def test_arrays_and_ordinary_jobs_stand_side_by_side(world: World) -> None:
    shapes = (Shape(), Shape(cpu_m=2000, memory_mib=100))
    rows = array_rows(
        None,
        3,
        None,
        2,
        group=[0, 1, 1, 0],
        priority=[0, 0, 7, 3],
        max_attempts=[1, 2, 3, 4],
        always_run=[False, True, False, False],
        shapes=shapes,
        shape_index=[0, 1, 0, 1],
    )
    rows.label_job, rows.label_name, rows.label_attributes = [5], ["own"], [None]
    batch = await world.submit(rows, groups=tree("a"))
    jobs = [await world.job(batch, number) for number in range(1, 8)]
    documents = await world.api.list_jobs(world.caller, batch, after=0, limit=10)

    assert [job["group_id"] for job in jobs] == [0, 1, 1, 1, 1, 0, 0]
    assert [job["priority"] for job in jobs] == [0, 0, 0, 0, 7, 3, 3]
    assert [job["max_attempts"] for job in jobs] == [1, 2, 2, 2, 3, 4, 4]
    assert [job["always_run"] for job in jobs] == [False] + [True] * 3 + [False] * 3
    assert [job["cpu_m"] for job in jobs] == [1000, 2000, 2000, 2000, 1000, 2000, 2000]
    assert [job["spec_first"] for job in jobs] == [1, 2, 2, 2, 5, 6, 6]
    assert [job["index"] for job in documents] == [None, 10, 11, 12, None, 10, 11]
    names = [None, *["array2"] * 3, "own", *["array6"] * 2]
    assert [job["name"] for job in documents] == names
    assert await world.counts(batch, "/a") == {"ready": 4}
    assert await (await world.worker()).run() == [5, 6, 7, 2, 3, 4, 1]


async def test_parents_of_an_array_hold_back_each_of_its_jobs(world: World) -> None:
    """Scatter and gather: an array below one job, and one job below the array."""
    batch = await world.submit(
        array_rows(None, 4, None, edges={2: [range(1, 2)], 6: [range(2, 6)]})
    )
    worker = await world.worker()
    before = await world.states(batch)
    scattered = [await worker.run(), await world.states(batch)]
    claimed = await worker.claim()
    await worker.end(*claimed[1:])
    waiting = await world.states(batch)
    await worker.end(claimed[0])

    assert before == "rppppp"
    assert scattered == [[1], "srrrrp"]
    assert waiting == "sRsssp"
    assert await worker.run() == [6]
    parents = (await world.api.get_job(world.caller, batch, 6))["parents"]
    assert parents == [2, 3, 4, 5]


async def test_array_in_a_bunch_waits_for_jobs_of_before(world: World) -> None:
    """Of the earlier parents one runs, one has ended well, one has not."""
    batch, worker, (one, two, three) = await world.submit_and_claim(3)
    await worker.end(two)
    await worker.end(three, reason=Reason.EXIT)
    update = await open_update(world, batch, 11)
    rows = array_rows(
        3,
        3,
        3,
        2,
        edges={
            1: [range(-1, 0), range(-2, -1)],
            4: [range(-2, -1)],
            7: [range(-3, -2), range(1, 2)],
            10: [range(-3, -2), range(7, 10)],
        },
    )
    rows.edge_parent_n[-2:] = [-1, -3]  # the ends of these are enough
    await world.api.add_jobs(world.caller, batch, update.update_id, rows)
    again = await world.api.add_jobs(world.caller, batch, update.update_id, rows)
    await world.api.commit_update(world.caller, batch, update.update_id)
    committed = await world.states(batch)
    await worker.end(one)

    assert again is False
    assert committed == "Rsf" + "ppp" + "rrr" + "ppp" + "pp"
    assert await world.states(batch) == "ssf" + "rrr" + "rrr" + "ppp" + "pp"
    await worker.run()
    await world.sweep()
    assert await world.states(batch) == "ssf" + "sss" + "sss" + "ccc" + "rr"


async def test_entries_must_add_up(world: World) -> None:
    rows = array_rows(3, 4)
    batch = await new_batch(world)
    update = await open_update(world, batch, 8)
    rows.n_jobs = 8
    with pytest.raises(errors.OutsideUpdate):
        await world.api.add_jobs(world.caller, batch, update.update_id, rows)


async def test_uncommitted_array_is_removed_after_a_while(own_world: World) -> None:
    batch = await new_batch(own_world)
    update = await open_update(own_world, batch, 50)
    await own_world.api.add_jobs(own_world.caller, batch, update.update_id, array_rows(50))
    await own_world.driver.remove_old(await own_world.lead(), events_keep_s=1e6, updates_keep_s=-1)

    left = await own_world.admin.fetchrow(
        "SELECT (SELECT count(*) FROM weft.job) AS jobs, "
        "(SELECT count(*) FROM weft.job_array) AS arrays, "
        "(SELECT count(*) FROM weft.job_spec) AS specs"
    )
    assert tuple(left) == (0, 0, 0)


async def test_jobs_of_an_array_are_in_its_sets(world: World) -> None:
    groups = [
        NewGroup(group_id=1, parent_id=0, name="tree"),
        NewGroup(group_id=2, parent_id=0, name="pca", is_set=True),
    ]
    rows = array_rows(None, 4, 2, group=[0, 1, 1], sets={2: (2,)})
    batch = await world.submit(rows, groups=groups)
    one = await world.api.get_job(world.caller, batch, 4)

    assert (one["group_id"], one["groups"]) == (1, [2])
    assert await world.counts(batch, "pca") == {"ready": 4}
    assert await world.counts(batch, "/tree") == {"ready": 6}
