"""Cancelling jobs, groups and batches, and what runs nevertheless."""

import asyncio

import pytest

from builders import job_rows, tree
from store.world import Worker, World
from weft.core import errors
from weft.core.states import Reason
from weft.ports.store import NewGroup

TREE = tree("a", "a/b", "c")
AN_HOUR_US = 3_600_000_000


async def cancel(world: World, batch: int, group: int = 0, *, force: bool = False) -> bool:
    return await world.api.cancel_group(world.caller, batch, group, force=force)


async def test_single_jobs_end_now_or_are_told(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(
        job_rows(5, parents={4: [3]}), limit=2
    )
    await worker.end(one)
    answer = await world.api.cancel_jobs(world.caller, batch, [1, 2, 3, 5, 5])

    assert answer == {1: "success", 2: "cancelling", 3: "cancelled", 5: "cancelled"}
    assert await world.states(batch) == "sRcpc"
    assert (await worker.beat(two)).to_stop == [(batch, 2, 1)]
    await worker.end(two, reason=Reason.CANCELLED)
    await world.sweep()
    assert await world.states(batch) == "scccc"
    again = await world.api.cancel_jobs(world.caller, batch, [2, 3])
    assert again == {2: "cancelled", 3: "cancelled"}


@pytest.mark.parametrize("reason", [Reason.LOST, Reason.PREEMPTED, Reason.EXIT])
async def test_job_whose_cancel_was_acknowledged_does_not_run_again(
    world: World, reason: Reason
) -> None:
    """Not even if its attempt ends before its worker hears of it, and may be tried again."""
    batch, worker, (claimed,) = await world.submit_and_start(
        job_rows(2, max_attempts=3, retry_on=[Reason.EXIT], parents={2: [1]})
    )
    answer = await world.api.cancel_jobs(world.caller, batch, [1])
    await worker.end(claimed, reason=reason)

    assert answer == {1: "cancelling"}
    assert await worker.claim() == []
    await world.sweep()
    assert await world.states(batch) == "cc"


async def test_cancel_that_waits_for_an_end_sees_it(world: World) -> None:
    """An attempt is lost while its cancel arrives, in either order."""
    batch, worker, (one, two) = await world.submit_and_claim(2)
    async with world.ending(worker, one, reason=Reason.LOST):
        cancelling = await world.start_waiting(world.api.cancel_jobs(world.caller, batch, [1]))
    first = await cancelling
    async with world.during_request("cancel_jobs", batch, job_ids=[2], actor="x"):
        ending = await world.start_waiting(worker.end(two, reason=Reason.LOST))
    verdict = await ending

    assert (first, verdict) == ({1: "cancelled"}, ["ok"])
    assert await worker.claim() == []
    assert await world.states(batch) == "cc"


async def test_group_is_cancelled_with_all_below(world: World) -> None:
    rows = job_rows(8, group=[0, 1, 2, 3, 0, 1, 2, 3], priority=[0] * 4 + [1] * 4)
    batch, worker, claimed = await world.submit_and_claim(rows, groups=TREE, limit=2)
    first, second = await cancel(world, batch, 1), await cancel(world, batch, 1)
    swept = await world.sweep()
    stops = (await worker.beat(*claimed)).to_stop

    assert (first, second) == (True, False)
    assert swept >= 8
    assert await world.states(batch) == "rccrRRcr"
    assert stops == [(batch, 6, 1)]
    document = await world.api.get_group(world.caller, batch, "/a/b")
    assert (document["state"], document["cancelled"], document["complete"]) == (
        "cancelled",
        True,
        True,
    )
    whole = await world.api.get_batch(world.caller, batch)
    assert (whole["cancelled"], whole["complete"], whole["n_cancelled"]) == (False, False, 3)


async def test_cancelled_batch_runs_only_what_always_runs(world: World) -> None:
    """Its clean-up starts when everything that it waits for has ended."""
    rows = job_rows(
        5, parents={2: [1], 3: [1, 2], 5: [4]}, always_run=[False] * 2 + [True, False, True]
    )
    batch, worker, (one,) = await world.submit_and_claim(rows, limit=1)
    await cancel(world, batch)
    await world.sweep()
    waiting = await world.states(batch)
    await worker.end(one, reason=Reason.CANCELLED)
    await world.sweep()

    assert waiting == "Rcpcr"
    assert await world.states(batch) == "ccrcr"
    assert sorted(await worker.run()) == [3, 5]
    await world.fold()
    document = await world.api.get_batch(world.caller, batch)
    assert (document["state"], document["complete"]) == ("cancelled", True)


async def test_force_stops_what_always_runs(world: World) -> None:
    batch, worker, (running,) = await world.submit_and_claim(job_rows(3, always_run=True), limit=1)
    gentle = await cancel(world, batch)
    before = (await worker.beat(running)).to_stop
    await world.sweep()
    left = await world.states(batch)
    forced, again = await cancel(world, batch, force=True), await cancel(world, batch, force=True)
    await world.sweep()

    assert (gentle, before, left) == (True, [], "Rrr")
    assert (forced, again, await cancel(world, batch)) == (True, False, False)
    assert await world.states(batch) == "Rcc"
    assert (await worker.beat(running)).to_stop == [(batch, 1, 1)]


async def test_sweep_waits_for_an_end_that_makes_a_job_ready_again(world: World) -> None:
    """The end began before the cancel was acknowledged, so only the sweep can see both."""
    batch, worker, (one, _) = await world.submit_and_claim(2)
    async with world.ending(worker, one, reason=Reason.PREEMPTED):
        await cancel(world, batch)
        sweeping = await world.start_waiting(world.sweep())
    await sweeping

    assert await worker.claim() == []
    assert await world.states(batch) == "cR"


@pytest.mark.parametrize("swept", [1, 2])
async def test_job_that_is_ready_again_behind_the_sweep_is_cancelled(
    world: World, swept: int
) -> None:
    batch, worker, (claimed,) = await world.submit_and_claim(3, limit=1)
    await cancel(world, batch)
    epoch = await world.lead()
    for _ in range(swept):
        assert await world.driver.sweep("sweep_cancelled", epoch, limit_jobs=1) == 1
    await worker.end(claimed, reason=Reason.PREEMPTED)

    await world.sweep()
    assert await worker.claim() == []
    assert await world.states(batch) == "ccc"


async def test_cancel_waits_for_claims_under_way(world: World, worker: Worker) -> None:
    """When it is acknowledged nothing is claimed any more, and what was is told."""
    batch = await world.submit(4)
    async with world.claiming(worker, 1):
        cancelling = await world.start_waiting(cancel(world, batch))
        assert not cancelling.done()
        # A claim during the cancel's wait takes nothing and does not wait either.
        async with asyncio.timeout(30):
            assert await worker.claim() == []

    assert await cancelling
    assert await worker.claim() == []
    await world.sweep()
    assert await world.states(batch) == "Rccc"


async def test_commit_waits_for_a_cancel_and_is_refused(world: World) -> None:
    batch = await world.submit(1)
    async with world.during_request("cancel_group", batch, group_id=0, actor="x", force=False):
        adding = await world.start_waiting(world.submit(1, batch=batch))

    with pytest.raises(errors.BatchCancelled):
        await adding
    await world.sweep()


async def test_sweep_is_done_in_bounded_sets(world: World) -> None:
    batch = await world.submit(25)
    await cancel(world, batch)
    epoch = await world.lead()
    sizes = []
    while found := await world.driver.sweep("sweep_cancelled", epoch, limit_jobs=10):
        sizes.append(found)

    assert sizes[:3] == [10, 10, 5]
    assert await world.states(batch) == "c" * 25
    assert await world.counts(batch) == {"cancelled": 25}


async def test_nth_failure_cancels_the_group_at_once(world: World) -> None:
    groups = [NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=2)]
    batch, worker, (one, two, three) = await world.submit_and_claim(
        job_rows(8, group=[1] * 6 + [0] * 2), groups=groups, limit=3
    )
    await worker.end(one, reason=Reason.EXIT)
    before = await world.api.get_group(world.caller, batch, 1)
    await worker.end(two, reason=Reason.OOM)
    after = await world.api.get_group(world.caller, batch, 1)

    assert (before["cancelled"], after["cancelled"]) == (False, True)
    others = await worker.claim()
    assert [one.job_id for one in others] == [7, 8]
    assert (await worker.beat(three, *others)).to_stop == [(batch, 3, 1)]
    await world.sweep()
    assert await world.states(batch) == "feRcccRR"


async def test_failures_below_count_in_all_ancestors(world: World, worker: Worker) -> None:
    """A retried failure does not count, nor does a cancelled job."""
    groups = [
        NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=5),
        NewGroup(group_id=2, parent_id=1, name="b", cancel_after_n_failures=1),
    ]
    batch = await world.submit(
        job_rows(9, group=[1, 2, 2, 0, 0, 0, 0, 0, 0], max_attempts=2, retry_on=[Reason.SIGNAL]),
        groups=groups,
        cancel_after_n_failures=3,
    )
    claimed = {one.job_id: one for one in await worker.claim(8)}
    await worker.end(claimed[4], reason=Reason.SIGNAL)
    await worker.end(claimed[5], reason=Reason.CANCELLED)
    await worker.end(claimed[6], claimed[2], reason=Reason.EXIT)

    async def cancelled() -> list[bool]:
        listed = await world.api.list_groups(world.caller, batch, after=-1, limit=9)
        return [one["cancelled"] for one in listed]

    assert await cancelled() == [False, False, True]
    await worker.end(claimed[7], reason=Reason.EXIT)
    assert await cancelled() == [True, True, True]
    await world.sweep()


async def test_failures_at_once_are_counted_exactly(world: World) -> None:
    batch = await world.submit(30, cancel_after_n_failures=20)
    workers = [await world.worker(f"w{n}") for n in range(3)]
    claims = [await worker.claim(6) for worker in workers]
    ends = [
        worker.end(*claim[part : part + 3], reason=Reason.EXIT)
        for worker, claim in zip(workers, claims, strict=True)
        for part in (0, 3)
    ]
    await asyncio.gather(*ends)
    before = (await world.api.get_batch(world.caller, batch))["cancelled"]
    await workers[0].run(2, reason=Reason.EXIT)

    assert (before, (await world.api.get_batch(world.caller, batch))["cancelled"]) == (False, True)
    assert await workers[0].claim() == []
    await world.sweep()
    assert await world.counts(batch) == {"failed": 20, "cancelled": 10}


async def test_cancel_notices_name_the_batch(world: World, worker: Worker) -> None:
    batch = await world.submit(2)
    await worker.claim(1)
    notices = worker.store.notices.listen("cancel")
    heard = [await anext(notices)]
    await world.api.cancel_jobs(world.caller, batch, [1])
    heard.append(await anext(notices))
    await cancel(world, batch)
    heard.append(await anext(notices))
    await notices.aclose()

    assert heard == [("", ""), ("cancel", str(batch)), ("cancel", str(batch))]
    await world.sweep()


async def test_what_had_ended_keeps_its_state_and_takes_no_more_jobs(world: World) -> None:
    """Also below the cancelled group. What was cut short, or was still empty, is cancelled."""
    groups = [*TREE, NewGroup(group_id=4, name="ended", is_set=True)]
    batch, worker, (ended, running) = await world.submit_and_claim(
        job_rows(2, group=[2, 0], sets={1: (4,)}), groups=groups, limit=2
    )
    await worker.end(ended)
    before = await states_of_groups(world, batch)
    await cancel(world, batch, 1)
    after = await states_of_groups(world, batch)
    await cancel(world, batch)
    await worker.start(running)
    await worker.end(running, start_age_us=AN_HOUR_US)

    assert before == {
        "/": "running",
        "/a": "success",
        "/a/b": "success",
        "/c": "success",
        "ended": "success",
    }
    assert after == before
    assert await states_of_groups(world, batch) == {**before, "/": "cancelled", "/c": "cancelled"}
    document = await world.api.get_group(world.caller, batch, "/a/b")
    assert (document["cancelled"], document["complete"]) == (True, True)
    with pytest.raises(errors.BatchCancelled):
        await world.submit(1, batch=batch)


async def states_of_groups(world: World, batch: int) -> dict[str, str]:
    groups = await world.api.list_groups(world.caller, batch, after=-1, limit=9)
    return {group["path"] or group["name"]: group["state"] for group in groups}


async def sweep_once(world: World, limit: int) -> None:
    await world.driver.sweep("sweep_cancelled", await world.lead(), limit_jobs=limit)


async def test_sweep_serves_each_user(world: World) -> None:
    """Whoever cancelled thousands of jobs before does not delay ten, in an older batch."""
    await world.sweep()
    bob = await world.user("bob")
    small, large = await world.submit(10, caller=bob), await world.submit(3_000)
    await cancel(world, large)
    await world.api.cancel_group(bob, small, 0, force=False)
    await sweep_once(world, 100)

    assert await world.states(small) == "c" * 10
    assert (await world.states(large)).count("c") == 90  # what the ten have left


async def test_each_user_that_a_sweep_serves_has_20_jobs(world: World) -> None:
    await world.sweep()
    users = [await world.user(f"user {number}") for number in range(8)]
    batches = [await world.submit(30, caller=one) for one in users]
    for one, batch in zip(users, batches, strict=True):
        await world.api.cancel_group(one, batch, 0, force=False)
    await sweep_once(world, 100)
    counts = sorted([(await world.states(batch)).count("c") for batch in batches])

    assert counts == [0, 0, 0, 20, 20, 20, 20, 20]
    await world.sweep()
    assert {await world.states(batch) for batch in batches} == {"c" * 30}


@pytest.mark.heavy
async def test_sweep_of_a_user_begins_with_the_oldest_cancel(world: World) -> None:
    await world.sweep()
    one, two = await world.submit(30), await world.submit(30)
    await cancel(world, two)
    await cancel(world, one)
    await sweep_once(world, 40)

    assert await world.states(two) == "c" * 30
    assert (await world.states(one)).count("c") == 10
