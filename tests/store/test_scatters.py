"""Neighbours below one parent become ready in sets, each with one walk and one range."""

import asyncio
from typing import Any

import pytest
import pytest_asyncio

from builders import job_rows, tree
from store.barriers import hold, park, release
from store.batch_steps import open_update
from store.test_crowds import CHILD, N, end_all, end_on, gather, listed, noted, ranges, scatter
from store.test_waiting import ear
from store.world import Worker, World
from weft.core.states import Reason
from weft.store.database import call_on

pytestmark = pytest.mark.slow
SET = 400
LAST = N + 1
SETS = [(2, 401), (402, 1201), (1202, LAST)]
"""The ranges of a scatter: after the first set they are twice as large."""


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def _settled_driver(world: World) -> None:
    """Nothing is left of other tests, and the driver is awake."""
    await world.sweep()
    await world.admin.execute("UPDATE weft.driver_state SET waiting = false")


async def settle(world: World, limit: int = SET) -> int:
    """Tell one set of children."""
    return await world.driver.sweep("settle_children", await world.lead(), limit_jobs=limit)


async def settle_all(world: World) -> None:
    """Tell sets of children until nobody is left to be told."""
    while await settle(world):
        pass


async def run_all(world: World, worker: Worker) -> list[int]:
    """Claim and end until nothing is left, with the driver beside."""
    done: list[int] = []
    while found := await worker.run(400):
        done.extend(found)
        await world.fold()
    return sorted(done)


async def ranges_of_children(world: World, batch: int) -> list[tuple[int, int]]:
    """Return all ranges but that of the update, which reaches over all jobs."""
    return [one for one in await ranges(world, batch) if one[0] != 1]


async def test_first_children_can_be_claimed_before_the_last_are_told(world: World) -> None:
    batch, worker = await scatter(world)
    told = await settle(world)
    early = await worker.run(2 * N)
    await world.fold()
    await settle_all(world)

    assert told == SET
    assert early == list(range(2, 2 + SET))
    assert await ranges_of_children(world, batch) == SETS[1:]
    assert await listed(world, batch) == 0
    assert await run_all(world, worker) == list(range(2 + SET, LAST + 1))


async def test_claimer_finds_nothing_of_a_set_that_is_not_committed(world: World) -> None:
    """Nor does the fold pass it by meanwhile."""
    batch, worker = await scatter(world)
    await settle(world)
    other = await world.connect("weft_driver")
    transaction = other.transaction()
    await transaction.start()
    await call_on(other, "settle_children", epoch=await world.lead(), limit_jobs=SET)
    early = await worker.run(2 * N)
    await world.fold()
    await transaction.commit()
    await world.fold()

    assert early == list(range(2, 2 + SET))
    assert await ranges_of_children(world, batch) == SETS[1:2]
    assert await worker.run(2 * N) == list(range(2 + SET, 2 + 3 * SET))
    await world.sweep()
    await run_all(world, worker)
    assert await world.counts(batch) == {"succeeded": N + 1}


async def test_driver_that_dies_within_a_set_leaves_it_to_the_next_one(world: World) -> None:
    batch, worker = await scatter(world)
    await settle(world)
    other = await world.connect("weft_driver")
    await other.execute("BEGIN")
    await call_on(other, "settle_children", epoch=await world.lead(), limit_jobs=SET)
    killed = other.get_server_pid()
    await world.admin.execute("SELECT pg_terminate_backend($1, 10000)", killed)
    before = await world.counts(batch)
    await settle_all(world)

    assert before == {"succeeded": 1, "ready": SET, "pending": N - SET}
    assert await ranges_of_children(world, batch) == SETS
    assert await run_all(world, worker) == list(range(2, LAST + 1))


@pytest.mark.parametrize("jobs", [[10, 11, 700, 1400], list(range(402, 1202))])
async def test_single_jobs_are_cancelled_between_two_sets(world: World, jobs: list[int]) -> None:
    batch, worker = await scatter(world)
    await settle(world)
    await world.api.cancel_jobs(world.caller, batch, jobs)
    await settle_all(world)

    left = [job for job in range(2, LAST + 1) if job not in jobs]
    assert await world.counts(batch) == {
        "succeeded": 1,
        "cancelled": len(jobs),
        "ready": len(left),
    }
    assert await run_all(world, worker) == left


async def test_group_is_cancelled_between_two_sets(world: World) -> None:
    """What is told afterwards is listed, for the sweep has to find the cancelled ones."""
    batch, worker = await scatter(world, group=[0] + [n % 2 for n in range(N)], groups=tree("a"))
    await settle(world)
    await world.api.cancel_group(world.caller, batch, 1, force=False)
    await world.sweep(SET)

    assert await ranges_of_children(world, batch) == SETS[:1]
    assert await listed(world, batch) == (N - SET) // 2
    assert await run_all(world, worker) == list(range(2, LAST + 1, 2))


@pytest.mark.parametrize("group", [0, 1])
async def test_hold_between_two_sets_parks_what_is_told_later(world: World, group: int) -> None:
    batch, worker = await scatter(world, group=[0] + [1] * N, groups=tree("a"))
    await settle(world)
    await hold(world, batch, group)
    await world.sweep(SET)
    await park(world)
    claimed = await worker.claim(2 * N)
    findings = await world.findings()
    await release(world, batch, group)
    await park(world)

    assert claimed == []
    assert findings == {}
    assert await run_all(world, worker) == list(range(2, LAST + 1))


@pytest.mark.parametrize("lock", ["pg_advisory_xact_lock", "pg_advisory_xact_lock_shared"])
async def test_set_below_a_cancel_under_way_is_listed(world: World, lock: str) -> None:
    """A cancel that has the batch's lock and is not committed yet must find them listed."""
    batch, worker = await scatter(world)
    async with world.transaction() as other:
        await other.execute(f"SELECT {lock}($1)", batch)
        await settle(world)

    is_cancel = lock == "pg_advisory_xact_lock"
    assert await ranges_of_children(world, batch) == ([] if is_cancel else SETS[:1])
    assert await listed(world, batch) == (SET if is_cancel else 0)
    await world.sweep()
    assert await run_all(world, worker) == list(range(2, LAST + 1))


async def test_failed_parent_cancels_all_but_those_that_always_run(world: World) -> None:
    always = [False] + [n % 500 == 0 for n in range(N)]
    parents = {child: [1] for child in range(2, N + 2)}
    batch, worker = await world.submit_and_run(
        job_rows(N + 1, parents=parents, always_run=always), reason=Reason.EXIT
    )
    await settle_all(world)

    clean_up = [place + 1 for place, one in enumerate(always) if one]
    assert await world.counts(batch) == {
        "failed": 1,
        "cancelled": N - len(clean_up),
        "ready": len(clean_up),
    }
    assert await run_all(world, worker) == clean_up


@pytest.mark.parametrize("every", [2, 7])
async def test_priorities_and_always_run_among_neighbours_are_listed(
    world: World, every: int
) -> None:
    """The others stand in the range around them."""
    special = [n > 0 and n % every == 0 for n in range(N + 1)]
    batch, worker = await scatter(
        world,
        priority=[5 if one and place % 4 == 0 else 0 for place, one in enumerate(special)],
        always_run=[one and place % 4 != 0 for place, one in enumerate(special)],
    )
    await settle_all(world)

    assert await ranges_of_children(world, batch) == SETS
    assert await listed(world, batch) == sum(special)
    first = [job for job in await worker.run(100) if special[job - 1]]
    assert first, "a priority goes first"
    rest = await run_all(world, worker)
    assert len(rest) == N - 100


@pytest.mark.parametrize("columns", [{"priority": 5}, {"always_run": True}])
async def test_neighbours_that_a_range_cannot_describe_are_listed(
    world: World, columns: dict[str, Any]
) -> None:
    batch, worker = await scatter(world, **columns)
    await settle_all(world)

    assert await ranges_of_children(world, batch) == []
    assert await listed(world, batch) == N
    assert await run_all(world, worker) == list(range(2, LAST + 1))


async def test_children_that_stand_alone_are_listed(world: World) -> None:
    """Every other job waits for the first, the ones between for the second."""
    parents = {child: [1 + child % 2] for child in range(3, 2 * N + 3)}
    batch, worker, (first, second) = await world.submit_and_claim(
        job_rows(2 * N + 2, parents=parents), limit=2
    )
    await worker.end(first)
    await settle_all(world)

    assert await listed(world, batch) == N
    await worker.end(second)
    await settle_all(world)
    assert await listed(world, batch) == 2 * N
    assert await run_all(world, worker) == list(range(3, 2 * N + 3))


async def test_children_of_two_parents_are_ready_after_the_second(world: World) -> None:
    parents = {child: [1, 2] for child in range(3, N + 3)}
    batch, worker, (first, second) = await world.submit_and_claim(
        job_rows(N + 2, parents=parents), limit=2
    )
    await worker.end(first)
    await settle_all(world)
    half = [await world.counts(batch), await ranges_of_children(world, batch)]
    await worker.end(second)
    await settle_all(world)

    assert half == [{"succeeded": 1, "running": 1, "pending": N}, []]
    assert await ranges_of_children(world, batch) == [(3, 402), (403, 1202), (1203, N + 2)]
    assert await run_all(world, worker) == list(range(3, N + 3))


async def test_some_neighbours_wait_for_one_more_parent(world: World) -> None:
    """Told in the same walk, and not ready by it, although they stand in the range."""
    parents = {child: [1] for child in range(3, N + 3)} | {5: [1, 2], 1200: [1, 2]}
    batch, worker, (first, second) = await world.submit_and_claim(
        job_rows(N + 2, parents=parents), limit=2
    )
    await worker.end(first)
    await settle_all(world)
    early = await run_all(world, worker)
    await worker.end(second)

    assert early == [job for job in range(3, N + 3) if job not in {5, 1200}]
    assert await listed(world, batch) == 2
    assert await run_all(world, worker) == [5, 1200]


async def test_other_parent_fails_while_the_neighbours_are_walked(world: World) -> None:
    """Its child is told after the others, and cancelled with what hangs below."""
    parents = {child: [1] for child in range(3, N + 3)} | {50: [1, 2], N + 3: [50]}
    batch, worker, (first, second) = await world.submit_and_claim(
        job_rows(N + 3, parents=parents), limit=2
    )
    await worker.end(first)
    async with world.transaction("weft_worker") as other:
        await end_on(other, worker.id, [second], Reason.EXIT)
        settling = await world.start_waiting(settle(world))
    told = await settling
    await world.sweep()

    assert told == SET
    states = await world.states(batch)
    assert (states[49], states[N + 2], states.count("c")) == ("c", "c", 2)
    assert await run_all(world, worker) == [job for job in range(3, N + 3) if job != 50]


async def test_staged_children_are_told_before_their_commit(world: World) -> None:
    batch, worker, (parent,) = await world.submit_and_claim(1)
    api = world.api
    update = await open_update(world, batch, N)
    rows = job_rows(N, parents={child: [-1] for child in range(1, N + 1)})
    await api.add_jobs(world.caller, batch, update.update_id, rows)
    await worker.end(parent)
    await settle(world)
    early = await worker.claim(N)
    await api.commit_update(world.caller, batch, update.update_id)
    await world.sweep()

    assert early == []
    assert await run_all(world, worker) == list(range(2, LAST + 1))


async def test_bound_of_a_batch_holds_for_its_neighbours(world: World) -> None:
    parents = {child: [1] for child in range(2, N + 2)}
    batch = await world.submit(job_rows(N + 1, parents=parents), max_running=7)
    worker, other = await world.worker(), await world.worker("other")
    await worker.run()
    await world.sweep(SET)
    claimed = await worker.claim(N)

    assert len(claimed) == 7
    assert await other.claim(N) == []
    await worker.end(*claimed)
    assert len(await other.claim(N)) == 7
    await world.api.cancel_group(world.caller, batch, 0, force=True)


async def test_claimers_race_with_the_sets(world: World) -> None:
    """Each child runs once, whoever comes when."""
    batch, worker = await scatter(world)
    others = [worker, *[await world.worker(f"w{number}") for number in range(2)]]
    done: list[int] = []

    async def work(one: Worker) -> None:
        async with asyncio.timeout(60):
            while len(done) < N:
                done.extend(await one.run(30))

    async def drive() -> None:
        async with asyncio.timeout(60):
            while len(done) < N:
                await settle(world, 150)
                await world.fold()

    await asyncio.gather(drive(), *map(work, others))

    assert sorted(done) == list(range(2, LAST + 1))
    assert await world.counts(batch) == {"succeeded": N + 1}


async def test_note_near_the_last_parent_rings_the_driver(world: World) -> None:
    """Two reports that do not see each other may both leave the last ends noted."""
    batch, worker, claimed = await gather(world)
    await end_all(worker, claimed[:300])
    await world.driver.sweep("count_parent_ends", await world.lead(), limit_jobs=10)
    early, late = await world.connect("weft_worker"), await world.connect("weft_worker")
    listener = await ear(world, "driver")
    async with early.transaction(), late.transaction():
        await end_on(early, worker.id, claimed[300:500])
        await end_on(late, worker.id, claimed[500:700])
        await end_all(worker, claimed[700:])
    before = (await world.job(batch, CHILD))["state"]

    assert before == 0
    assert await noted(world, batch) == 400
    assert await listener.hears() == ("driver", "settle")
    await world.driver.sweep("count_parent_ends", await world.lead(), limit_jobs=10)
    assert await worker.run() == [CHILD]


async def test_note_far_from_the_last_parent_rings_nobody(world: World) -> None:
    n = 11_500
    batch, worker, claimed = await world.submit_and_claim(
        job_rows(n + 1, parents={n + 1: range(1, n + 1)}), limit=3000
    )
    listener = await ear(world, "driver")
    await worker.end(*claimed[:900])
    far = await listener.heard_nothing()
    await worker.end(*claimed[900:1800])
    near = await listener.hears()

    assert far
    assert near == ("driver", "settle")
    assert await noted(world, batch) == 1800
    await world.api.cancel_group(world.caller, batch, 0, force=True)
