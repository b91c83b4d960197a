"""Jobs that are ready again together get one range instead of a row of ready_job each."""

from collections.abc import Sequence
from typing import Any

import pytest

from builders import job_rows
from store.barriers import hold, hold_and_park, park
from store.barriers import release as release_hold
from store.retries import fail, release, retried, retry
from store.test_crowds import listed, ranges
from store.test_edits import LIMITS
from store.world import Worker, World

pytestmark = pytest.mark.slow
N = 330
THIRD = range(3, N + 1, 3)


async def end(world: World, worker: Worker, failing: Sequence[int]) -> None:
    """End what can be claimed; of these jobs with a failure."""
    claimed = await worker.claim(10_000)
    await worker.end(*[one for one in claimed if one.job_id not in failing])
    await fail(worker, *[one for one in claimed if one.job_id in failing], code=3)
    await world.fold()


async def run_all(worker: Worker) -> list[int]:
    """Claim and end all, a part at a time; return the jobs in their order."""
    done = []
    while claimed := await worker.claim(70):
        await worker.end(*claimed)
        done += [one.job_id for one in claimed]
    return done


async def test_retried_jobs_get_a_range(world: World, worker: Worker) -> None:
    """Others lie between them; what a range cannot say stands beside it."""
    own = [int(job == 9) for job in range(1, N + 1)]
    batch = await world.submit(job_rows(N, priority=own))
    await end(world, worker, THIRD)
    assert await retry(world, batch) == len(THIRD)
    found = await ranges(world, batch), await listed(world, batch), await world.findings()
    done = await run_all(worker)
    await world.fold()

    assert found == ([(3, N)], 1, {})
    assert done == [9, *(job for job in THIRD if job != 9)]
    assert await world.counts(batch) == {"succeeded": N}
    assert await ranges(world, batch) == []


@pytest.mark.parametrize(
    ("failing", "new"),
    [
        (range(1, 100), {}),
        ([*range(1, 100), 1_002], {}),
        (range(1, 101), {"max_running": 2_000}),
        (range(1, 101), {"parents": {1_002: [1_001]}}),
        (range(1, 101), {"held": True}),
        (range(1, 101), {"retry_on": 1 << 21}),
        (range(951, 1_052), {"second": True}),
    ],
    ids=["few", "far apart", "gated", "with edges", "held", "asking", "of two updates"],
)
async def test_others_are_listed(
    world: World, worker: Worker, failing: Sequence[int], new: dict[str, Any]
) -> None:
    rows = job_rows(1_002, parents=new.get("parents"))
    rows.retry_on = [new.get("retry_on", 0)]
    batch = await world.submit(rows, max_running=new.get("max_running"))
    if new.get("second"):
        await world.submit(job_rows(100, first_job=1_003), batch=batch)
    await end(world, worker, failing)
    await run_all(worker)
    await world.fold()
    if new.get("held"):
        await hold(world, batch)
    assert await retry(world, batch) == len(failing)
    found = await ranges(world, batch), await listed(world, batch)
    if new.get("held"):
        await park(world)
        await release_hold(world, batch)
        await park(world)

    assert found == ([], len(failing))
    assert await run_all(worker) == list(failing)


async def test_jobs_that_fail_again_before_their_range_is_folded(world: World) -> None:
    """Their range still begins at the same number."""
    batch, worker = await world.submit_to_worker(N)
    await end(world, worker, THIRD)
    await retry(world, batch)
    await fail(worker, *await worker.claim(N))
    await retry(world, batch)
    found = await ranges(world, batch), await listed(world, batch), await world.findings()

    assert found == ([(3, N)], len(THIRD), {})
    assert await run_all(worker) == list(THIRD)


@pytest.mark.parametrize("how", ["cancel", "hold", "priority"])
async def test_a_range_of_retried_jobs_is_cancelled_held_and_edited(
    world: World, worker: Worker, how: str
) -> None:
    batch = await world.submit(N)
    await end(world, worker, THIRD)
    await retry(world, batch)
    if how == "cancel":
        await world.cancel(batch)
    elif how == "hold":
        await hold_and_park(world, batch)
        assert await worker.claim() == []
        await release_hold(world, batch)
        await park(world)
    else:
        await world.api.edit_job(world.caller, batch, 30, patch={"priority": 1}, limits=LIMITS)
    found = await world.findings()
    done = await run_all(worker)

    assert found == {}
    assert (
        done
        == {
            "cancel": [],
            "hold": [*THIRD],
            "priority": [30, *(job for job in THIRD if job != 30)],
        }[how]
    )


async def test_blocked_jobs_get_a_range(world: World) -> None:
    """Those of one batch; in the same step a few of another are listed."""
    batch, other = await world.submit(retried(N)), await world.submit(retried(5))
    worker, claimed = await world.claim(N + 5)
    await fail(worker, *(one for one in claimed if one.job_id % 2 == 0))
    await worker.end(*(one for one in claimed if one.job_id % 2))
    await world.fold()
    assert await release(world, in_s=61) == N // 2 + 2
    found = [
        (await ranges(world, one), await listed(world, one), (await world.counts(one))["ready"])
        for one in (batch, other)
    ]

    assert found == [([(2, N)], 0, N // 2), ([], 2, 2)]
    assert await world.findings() == {}
    assert sorted(await run_all(worker)) == sorted([2, 4, *range(2, N + 1, 2)])


@pytest.mark.parametrize("has", ["a cancelled job", "a priority", "a cancelled group"])
async def test_other_blocked_jobs_are_listed(world: World, has: str) -> None:
    rows = retried(N, priority=[int(job == 8 and has == "a priority") for job in range(N)])
    batch, worker, claimed = await world.submit_and_claim(rows, limit=N)
    await world.fold()
    if has == "a cancelled job":
        await world.api.cancel_jobs(world.caller, batch, [7])
    await fail(worker, *claimed)
    if has == "a cancelled group":
        await world.api.cancel_group(world.caller, batch, 0, force=False)
    left = {"a cancelled job": N - 1, "a priority": N, "a cancelled group": 0}[has]
    await release(world, in_s=61)
    await world.sweep()

    assert await ranges(world, batch) == []
    assert await listed(world, batch) == left
    assert await world.findings() == {}
    assert len(await run_all(worker)) == left
