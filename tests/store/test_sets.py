"""Sets: groups of jobs that are filled at creation, or later with jobs that are there."""

import asyncio

import pytest

from builders import job_rows, tree
from store.world import Worker, World
from weft.core.errors import BatchCancelled, GroupExists, GroupNotFound, TooManyGroups, TooManySets
from weft.core.states import Reason
from weft.driver.operations import advance_operation, one_batch
from weft.ports.store import UNKEYED, GroupLimits, NewGroup, NewSet
from weft.store import open_api_store, operations

PCA, VEP = 2, 3
"""Numbers of the sets that `two_sets` makes; group 1 is `/stage1`."""


async def two_sets(world: World, n_jobs: int = 6, **more: object) -> int:
    """Submit jobs: the odd ones in set pca, every third in vep; all in the tree group /stage1."""
    groups = [
        NewGroup(group_id=1, parent_id=0, name="stage1"),
        NewGroup(group_id=PCA, name="pca", is_set=True),
        NewGroup(group_id=VEP, name="vep", is_set=True, **more),  # type: ignore[arg-type]
    ]
    sets = {
        job: tuple(s for s, wanted in ((PCA, job % 2), (VEP, job % 3 == 0)) if wanted)
        for job in range(1, n_jobs + 1)
    }
    rows = job_rows(n_jobs, group=1, sets={job: own for job, own in sets.items() if own})
    return await world.submit(rows, groups=groups)


async def new_set(world: World, batch: int, name: str = "random", **more: object) -> int:
    """Make an empty set."""
    number, _ = await world.api.create_set(world.caller, batch, NewSet(name=name, **more))  # type: ignore[arg-type]
    return number


async def test_set_of_a_cancelled_batch_is_cancelled(world: World) -> None:
    batch = await two_sets(world)
    await world.api.cancel_group(world.caller, batch, VEP, force=False)
    before = await shown_as_cancelled(world, batch)
    await world.api.cancel_group(world.caller, batch, 0, force=False)
    single = await world.api.get_group(world.caller, batch, "pca")

    assert before == {"/": False, "/stage1": False, "pca": False, "vep": True}
    assert await shown_as_cancelled(world, batch) == dict.fromkeys(before, True)
    assert (single["cancelled"], single["state"]) == (True, "cancelled")


async def test_cancelled_tree_group_cancels_no_set(world: World) -> None:
    batch = await two_sets(world)
    await world.api.cancel_group(world.caller, batch, 1, force=False)

    assert await shown_as_cancelled(world, batch) == {
        "/": False,
        "/stage1": True,
        "pca": False,
        "vep": False,
    }


async def shown_as_cancelled(world: World, batch: int) -> dict[str, bool]:
    """Return what a listing says of every group."""
    groups = await world.api.list_groups(world.caller, batch, after=-1, limit=100)
    return {group["path"] or group["name"]: group["cancelled"] for group in groups}


async def test_name_without_slash_falls_back_to_the_tree(world: World) -> None:
    batch = await two_sets(world)

    assert (await world.api.get_group(world.caller, batch, "stage1"))["group_id"] == 1
    with pytest.raises(GroupNotFound):
        await world.api.get_group(world.caller, batch, "stage2")


async def test_members_bring_state_usage_and_cost(world: World) -> None:
    batch, worker, claimed = await world.submit_and_start(5, limit=3)
    await worker.end(claimed[0], start_age_us=5_000_000)
    await worker.end(claimed[1], reason=Reason.EXIT, start_age_us=7_000_000)
    await worker.beat(*claimed)
    mine = await new_set(world, batch)

    assert await world.api.add_members(world.caller, batch, mine, [1, 2, 3, 4]) == 4
    assert await world.api.add_members(world.caller, batch, mine, [4, 5, 5, 1]) == 1
    counts = {"ready": 2, "running": 1, "succeeded": 1, "failed": 1}
    assert await world.counts(batch, mine) == counts
    assert await world.findings() == {}

    await worker.end(claimed[2])
    await world.fold()
    document = await world.api.get_group(world.caller, batch, mine)
    whole = await world.api.get_batch(world.caller, batch)
    assert document["cost"] == whole["cost"] > 0


async def test_sets_of_a_job_are_limited(world: World) -> None:
    batch = await world.submit(1)
    sets = [await new_set(world, batch, f"s{number}") for number in range(65)]
    for one in sets[:64]:
        await world.api.add_members(world.caller, batch, one, [1])

    with pytest.raises(TooManySets):
        await world.api.add_members(world.caller, batch, sets[64], [1])


async def test_set_is_made_once(world: World) -> None:
    batch = await world.submit(1)
    assert await world.api.create_set(world.caller, batch, NewSet(name="x")) == (1, True)
    assert await world.api.create_set(world.caller, batch, NewSet(name="x")) == (1, False)
    with pytest.raises(GroupExists):
        await new_set(world, batch, "x", cancel_after_n_failures=1)


async def test_cancelled_set_cancels_its_jobs_only(world: World, worker: Worker) -> None:
    batch = await two_sets(world)
    (first,) = await worker.claim(1)  # job 1, in pca
    await world.api.cancel_group(world.caller, batch, PCA, force=False)

    stopped = (await worker.beat(first)).to_stop
    assert [key[1] for key in stopped] == [1]
    await worker.end(first, reason=Reason.CANCELLED)
    assert sorted(await worker.run()) == [2, 4, 6]
    await world.sweep()
    assert await world.states(batch) == "cscscs"
    await world.fold()
    assert await world.counts(batch, "vep") == {"succeeded": 1, "cancelled": 1}
    vep = await world.api.get_group(world.caller, batch, "vep")
    assert vep["complete"]
    assert not vep["cancelled"]


async def test_cancelled_set_takes_no_more(world: World) -> None:
    batch = await world.submit(2)
    mine = await new_set(world, batch)
    await world.api.cancel_group(world.caller, batch, mine, force=False)

    with pytest.raises(BatchCancelled, match="random"):
        await world.api.add_members(world.caller, batch, mine, [1])
    with pytest.raises(BatchCancelled, match="random"):
        await world.submit(job_rows(1, sets={1: (-mine,)}), batch=batch)


async def test_failures_of_a_set_cancel_it(world: World) -> None:
    batch = await two_sets(world, 9, cancel_after_n_failures=2)  # vep: 3, 6, 9
    worker, claimed = await world.claim(6)
    await worker.end(*claimed, reason=Reason.EXIT)

    assert await worker.run() == [7, 8]
    await world.sweep()
    assert await world.states(batch) == "ffffffssc"


async def test_failures_from_before_count(world: World) -> None:
    batch, worker, claimed = await world.submit_and_claim(4, limit=2)
    await worker.end(*claimed, reason=Reason.EXIT)
    mine = await new_set(world, batch, cancel_after_n_failures=2)
    await world.api.add_members(world.caller, batch, mine, [1, 2, 3])

    assert await worker.run() == [4]
    await world.sweep()
    assert await world.states(batch) == "ffcs"


async def test_set_completes_and_grows_and_completes_again(world: World) -> None:
    batch, worker = await world.submit_and_run(3, limit=1)
    mine = await new_set(world, batch)
    await world.api.add_members(world.caller, batch, mine, [1])
    await world.fold()
    await world.api.add_members(world.caller, batch, mine, [2])
    await world.fold()
    assert not (await world.api.get_group(world.caller, batch, mine))["complete"]
    await worker.run()
    await world.fold()

    completions = await world.admin.fetch(
        "SELECT completion FROM weft.group_completion WHERE batch_id = $1 AND group_id = $2 "
        "ORDER BY completion",
        batch,
        mine,
    )
    assert [row["completion"] for row in completions] == [1, 2]


async def test_end_of_a_job_waits_for_its_new_set(world: World) -> None:
    """A report that meets the addition counts in the set, whichever comes first."""
    batch = await world.submit(1)
    mine = await new_set(world, batch)
    worker, (claimed,) = await world.claim()
    async with world.during_request("add_members", batch, group_id=mine, job_ids=[1], sets_max=64):
        ending = await world.start_waiting(worker.end(claimed))
    assert await ending == ["ok"]

    assert await world.counts(batch, mine) == {"succeeded": 1}


async def test_many_add_and_end_at_once(world: World) -> None:
    batch = await world.submit(200)
    sets = [await new_set(world, batch, f"s{number}") for number in range(5)]
    workers = [await world.worker(f"w{number}") for number in range(3)]

    async def add(one: int) -> None:
        for first in range(1, 200, 20):
            await world.api.add_members(
                world.caller, batch, one, list(range(first + one, min(first + one + 15, 201)))
            )

    async def work(number: int) -> None:
        while claimed := await workers[number].claim(7):
            await workers[number].end(*claimed, reason=Reason.EXIT if number == 1 else None)

    await asyncio.gather(*(add(one) for one in sets), *(work(number) for number in range(3)))
    await world.fold()
    for one in sets:
        assert sum((await world.counts(batch, one)).values()) > 100


async def test_groups_of_a_batch_are_limited(world: World) -> None:
    batch = await world.submit(1)
    limits = GroupLimits(batch_groups_max=2)
    async with open_api_store(world.backend.dsns["weft_api"], limits=limits) as api:
        for name in "ab":
            await api.create_set(world.caller, batch, NewSet(name=name))
        with pytest.raises(TooManyGroups, match="too many groups"):
            await api.create_set(world.caller, batch, NewSet(name="c"))


async def begin_set(
    world: World, batch: int, query: str, *, within_group: int | None = None, name: str = "found"
) -> int:
    """Ask for a set of what a query finds; return the operation."""
    return await world.api.create_query_set(
        world.caller, batch, NewSet(name=name), UNKEYED, query=query, within_group=within_group
    )


async def go_on(world: World) -> None:
    """Take steps until no operation can."""
    epoch = await world.lead()
    while page := await world.driver.running_operations(epoch):
        for one in page:
            await advance_operation(world.driver, epoch, one)


async def test_query_fills_a_set_step_by_step(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_batch, "STEP_MEMBERS", 2)
    monkeypatch.setattr(one_batch, "STEP_NUMBERS", 4)
    batch = await world.submit(job_rows(10, names=dict.fromkeys((1, 2, 3, 8, 9), "pca")))
    operation = await begin_set(world, batch, "name = pca")
    await world.submit(job_rows(2, names={1: "pca"}), batch=batch)  # is later than the question
    epoch = await world.lead()

    steps = []
    while True:
        document = await world.api.get_operation(world.caller, operation)
        if document["state"] != "running":
            break
        steps.append(document["done"])
        with pytest.raises(GroupNotFound):
            await world.api.get_group(world.caller, batch, "found")
        for one in await world.driver.running_operations(epoch):
            await advance_operation(world.driver, epoch, one)

    assert steps == [0, 2, 6, 9]
    assert document["result"] == {"group_id": 1, "n_members": 5}
    assert (document["state"], document["done"], document["total"]) == ("success", 10, 10)
    assert await world.counts(batch, "found") == {"ready": 5}
    job = await world.api.get_job(world.caller, batch, 8)
    assert job["groups"] == [1]


async def test_query_set_is_filled_while_its_jobs_end(world: World, worker: Worker) -> None:
    batch = await world.submit(300)
    await begin_set(world, batch, "job_id > 100")

    async def work() -> None:
        """Claims pass over rows that are just being added, so an empty one is not the end."""
        ended = 0
        async with asyncio.timeout(30):
            while ended < 300:
                claimed = await worker.claim(9)
                if claimed:
                    await worker.end(*claimed)
                ended += len(claimed)
                await asyncio.sleep(0)

    await asyncio.gather(work(), go_on(world))
    await world.fold()
    assert await world.counts(batch, "found") == {"succeeded": 200}


async def test_query_within_a_group(world: World) -> None:
    batch = await two_sets(world)
    await begin_set(world, batch, "job_id > 2", within_group=PCA)
    await go_on(world)

    assert await world.counts(batch, "found") == {"ready": 2}  # jobs 3 and 5


async def test_failed_query_set_frees_its_name(world: World) -> None:
    batch = await world.submit(1)
    operation = await begin_set(world, batch, "job_id = 1")
    problem = {"title": "no"}
    await world.driver.fail_operation(await world.lead(), operation, problem)
    await begin_set(world, batch, "job_id = 1")
    await go_on(world)

    document = await world.api.get_operation(world.caller, operation)
    assert (document["state"], document["error"]) == ("failed", problem)
    assert await world.counts(batch, "found") == {"ready": 1}


async def test_operations_come_page_by_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "PAGE_OPERATIONS", 2)
    batch = await world.submit(5)
    for name in ("a", "b", "c"):
        await begin_set(world, batch, "job_id >= 1", name=name)
    epoch = await world.lead()

    first = await world.driver.running_operations(epoch)
    second = await world.driver.running_operations(epoch, first[-1].operation_id)
    none = await world.driver.running_operations(epoch, second[-1].operation_id)

    assert [len(page) for page in (first, second, none)] == [2, 1, 0]
    await go_on(world)


async def test_driver_that_dies_leaves_the_rest_to_the_next(world: World) -> None:
    batch = await world.submit(5)
    await begin_set(world, batch, "job_id >= 1")
    (operation,) = await world.driver.running_operations(await world.lead())
    await advance_operation(world.driver, await world.lead(), operation)
    await advance_operation(world.driver, await world.lead(), operation)  # had not heard of it

    assert await world.counts(batch, "found") == {"ready": 5}


async def test_sweep_looks_only_where_the_group_has_jobs(world: World) -> None:
    batch = await world.submit(2000)
    stage = tree("stage")
    await world.submit(job_rows(10, group=1), batch=batch, groups=stage)
    await world.submit(2000, batch=batch)
    mine = await new_set(world, batch)
    await world.api.add_members(world.caller, batch, mine, [5, 6, 3990])
    await world.sweep()  # what other tests have left

    await world.api.cancel_group(world.caller, batch, 1, force=False)
    assert await world.sweep() <= 20
    await world.api.cancel_group(world.caller, batch, mine, force=False)
    assert await world.sweep() <= 20
    assert (await world.counts(batch)) == {"ready": 3997, "cancelled": 13}
