"""What pictures of batches show, from few rows of large ones."""

from datetime import UTC, datetime
from functools import partial

from builders import job_rows, tree
from store.world import World
from weft.core.pictures.timeline import build_timeline
from weft.core.states import Reason
from weft.ports.store import UNKEYED, NewSet
from weft.store.jobs import PARENTS_COUNTED, PARENTS_SHOWN

TREE = tree("a", "a/b", "c")


async def test_edges_between_some_jobs(world: World) -> None:
    """A limit says that it cut; parents that are not asked for do not count."""
    parents = {3: [1, 2], 4: [1, 3], 6: [3, 5]}
    batch = await world.submit(job_rows(6, parents=parents))
    api, caller = world.api, world.caller

    assert await api.list_edges(caller, batch, [1, 3, 4], limit=9) == (
        [(1, 3), (1, 4), (3, 4)],
        False,
    )
    assert await api.list_edges(caller, batch, [2, 5], limit=9) == ([], False)
    assert await api.list_edges(caller, batch, [], limit=9) == ([], False)
    found, is_cut = await api.list_edges(caller, batch, list(range(1, 7)), limit=3)
    assert (len(found), is_cut) == (4, True)


async def test_children_are_listed_in_pages_without_those_that_are_staged(world: World) -> None:
    """Staged jobs are passed over as a whole, wherever a page ends; none is shown twice."""
    batch = await world.submit(job_rows(4, parents={2: [1], 4: [1, 2]}))
    api, caller = world.api, world.caller
    reserve = partial(api.create_update, caller, batch, UNKEYED, n_groups=0)
    staged, _ = await reserve(n_jobs=5)
    rows = job_rows(5, parents={n: [-1] for n in range(1, 6)})
    await api.add_jobs(caller, batch, staged.update_id, rows)
    later, _ = await reserve(n_jobs=2)
    await api.add_jobs(caller, batch, later.update_id, job_rows(2, parents={1: [-1], 2: [-1]}))
    await api.commit_update(caller, batch, later.update_id)

    async def listed(after: int, limit: int) -> list[int]:
        found = await api.list_children(caller, batch, 1, after=after, limit=limit)
        return [one["job_id"] for one in found]

    assert await listed(0, 9) == [2, 4, 10, 11]
    for limit in (1, 2, 3):
        pages = [await listed(0, limit)]
        while len(pages[-1]) == limit:
            pages.append(await listed(pages[-1][-1], limit))
        assert [one for page in pages for one in page] == [2, 4, 10, 11]


async def test_job_has_its_first_parents_and_all_come_in_pages(world: World) -> None:
    """They are counted as far as a page of another list goes."""
    n, shown, counted = 1200, PARENTS_SHOWN, PARENTS_COUNTED
    some = {n - 1: list(range(1, counted + 1)), n - 2: [7], n: list(range(1, counted + 2))}
    batch = await world.submit(job_rows(n, parents=some))
    api, caller = world.api, world.caller
    for job, parents, count in (
        (1, [], 0),
        (n - 2, [7], 1),
        (n - 1, list(range(1, shown + 1)), counted),
        (n, list(range(1, shown + 1)), None),
    ):
        found = await api.get_job(caller, batch, job)
        assert (found["parents"], found["n_parents"]) == (parents, count)
    pages = [await api.list_parents(caller, batch, n, after=0, limit=400)]
    while len(pages[-1]) == 400:
        after = pages[-1][-1]["job_id"]
        pages.append(await api.list_parents(caller, batch, n, after=after, limit=400))
    assert [len(page) for page in pages] == [400, 400, counted + 1 - 800]
    assert [one["job_id"] for page in pages for one in page] == some[n]


async def test_many_edges_between_groups_are_sampled_over_all_numbers(world: World) -> None:
    n = 400
    groups = [0] + [1] * (n // 2) + [3] * (n // 2 - 1)
    parents = {i: [1] if i <= n // 2 else [i - n // 2] for i in range(2, n + 1)}
    batch = await world.submit(job_rows(n, group=groups, parents=parents), groups=TREE)
    found, sampled = await world.api.list_group_edges(world.caller, batch, 0, limit=40)

    assert sampled
    assert {(parent, child) for parent, child, _ in found} >= {(0, 1), (1, 3)}
    assert sum(count for *_, count in found) == 40


async def test_uncommitted_jobs_are_not_drawn(world: World) -> None:
    batch = await world.submit(2)
    api, caller = world.api, world.caller
    reserved = await api.create_update(caller, batch, UNKEYED, n_jobs=1, n_groups=1)
    update = reserved[0].update_id
    await api.add_groups(caller, batch, update, tree("n"))
    await api.add_jobs(caller, batch, update, job_rows(1, parents={1: [-1]}))

    assert await api.list_group_edges(caller, batch, 0, limit=9) == ([], False)
    assert len(await api.sample_attempts(caller, batch, limit=9)) == 2
    assert await api.list_parent_groups(caller, batch, [0]) == []


async def test_time_axis_says_what_the_documents_of_jobs_say(world: World) -> None:
    """Of a job that succeeded, was lost, failed, waits, and was cancelled."""
    batch, worker = await world.submit_and_run(
        job_rows(6, max_attempts=2, retry_on=[Reason.EXIT]), limit=1
    )
    await worker.run(1, reason=Reason.LOST)
    await worker.run(1, reason=Reason.OOM)
    await worker.start(*await worker.claim(1))
    await world.api.cancel_jobs(world.caller, batch, [6])
    rows = await world.api.sample_attempts(world.caller, batch, limit=100)
    ids = [one.job_id for one in rows]

    assert ids == sorted(ids)
    assert set(ids) == set(range(1, 7))
    for number in range(1, 7):
        job = await world.api.get_job(world.caller, batch, number)
        mine = [one for one in rows if one.job_id == number]
        found = build_timeline(1, 1, datetime.now(UTC), mine)
        for phase in ("waiting", "starting", "running", "blocked"):
            expected = job["times"][f"{phase}_ms"]
            later = 0 if mine[0].state.is_terminal else 10_000  # what waits or runs goes on
            assert expected - later - 2 <= getattr(found.times, f"{phase}_ms") <= expected + 2


async def test_sample_is_spread_over_all_numbers(world: World) -> None:
    batch = await world.submit(1000)
    rows = await world.api.sample_attempts(world.caller, batch, limit=10)

    assert [one.job_id for one in rows] == [1 + 100 * i for i in range(10)]


async def test_sets_are_listed_by_name(world: World) -> None:
    batch = await world.submit(1, groups=TREE[:1])
    for name in ("pca", "all", "z"):
        await world.api.create_set(world.caller, batch, NewSet(name=name))
    rows = await world.api.list_sets(world.caller, batch, after="", limit=2)
    rest = await world.api.list_sets(world.caller, batch, after="pca", limit=2)

    assert [one["name"] for one in (*rows, *rest)] == ["all", "pca", "z"]
