"""Jobs that wait until a share of their parents has succeeded, or cannot any more."""

import asyncio

import pytest

from builders import array_rows, job_rows
from store.batch_steps import delete, open_update, remove
from store.retries import begin, finish, retry
from store.world import World
from weft.core.states import SHARE_NEED, Reason
from weft.driver.operations import advance_operation
from weft.ports.store import JobRows


def sharing(n_parents: int, share: int) -> JobRows:
    """Return jobs, and one more that needs a share of them."""
    child, parents = n_parents + 1, range(1, n_parents + 1)
    return job_rows(child, parents={child: parents}, shares={(child, p): share for p in parents})


@pytest.mark.parametrize("one", ["60 1 pppr", "60 2 pccc", "100 0 pppr", "100 1 cccc", "1 3 pppr"])
async def test_child_goes_on_when_its_share_is_decided(world: World, one: str) -> None:
    """Of 4, of which first some fail: how it is after each."""
    share, n_failed, seen = one.split()
    batch, worker, claimed = await world.submit_and_claim(sharing(4, int(share)))
    for n, claim in enumerate(claimed):
        await worker.end(claim, reason=Reason.EXIT if n < int(n_failed) else None)
        now = (await world.states(batch))[-1], (await world.job(batch, 5))["n_unfinished"]
        assert (*now, await world.findings()) == (seen[n], seen[n] == "p", {})


@pytest.mark.parametrize("reason", [None, Reason.EXIT])
async def test_two_open_transactions_count_one_share(world: World, reason: Reason | None) -> None:
    """The second waits for the child's row, and counts on what the first has counted."""
    batch, worker, claimed = await world.submit_and_claim(sharing(3, 60))
    async with world.ending(worker, claimed[0], reason=reason):
        second = await world.start_waiting(worker.end(claimed[1], reason=reason))
    await second
    job = await world.api.get_job(world.caller, batch, 4)
    assert (await world.states(batch), job["message"], job["share_parents"]) == (
        *(("ffRc", "parent j1: failed") if reason else ("ssRr", None)),
        {"60%": [1, 2, 3]},
    )


async def test_retry_counts_anew(world: World) -> None:
    """A failed parent runs again while its child waits, and with a child that was cancelled."""
    batch, worker, claimed = await world.submit_and_claim(sharing(4, 75))
    await worker.end(claimed[0], reason=Reason.EXIT)
    assert (await retry(world, batch, 1), await world.findings()) == (1, {})
    await worker.end(*claimed[1:3], reason=Reason.EXIT)
    await worker.end(claimed[3])
    assert (await retry(world, batch, 2), await world.states(batch)) == (2, "rrfsp")
    assert (await worker.run(), await world.states(batch)) == ([1, 2], "ssfsr")


async def test_retry_counts_what_ends_in_an_open_transaction(world: World) -> None:
    """It leaves a child whose row is taken, also by an end that decides nothing about it."""
    batch, worker, claimed = await world.submit_and_claim(sharing(4, 75))
    await worker.end(claimed[0], reason=Reason.EXIT)
    operation, epoch = await begin(world, batch, 1), await world.lead()
    (running,) = await world.driver.running_operations(epoch, operation - 1)
    async with world.ending(worker, claimed[1]), asyncio.timeout(9):
        await advance_operation(world.driver, epoch, running)
    assert ((await finish(world, operation))["n_retried"], await world.findings()) == (1, {})
    await worker.end(claimed[2])
    assert (await worker.run(), await world.states(batch)) == ([1], "sssRr")


async def test_later_updates_and_cancels(world: World) -> None:
    """What has ended, or ends during the commit, counts; a cancelled parent did not succeed."""
    batch, worker, claimed = await world.submit_and_claim(sharing(4, 50))
    await worker.end(claimed[0])
    parents = {1: [-1, -2], 2: [-1, -2, -4], 3: [-2, -3]}
    shares = {
        (child, one): (50, 60, 100)[child - 1] for child in parents for one in parents[child]
    }
    update = await open_update(world, batch, 3)
    rows = job_rows(3, parents=parents, shares=shares | {(2, -4): 100})
    await world.api.add_jobs(world.caller, batch, update.update_id, rows)
    async with world.during_request("commit_update", batch, of_update_id=update.update_id):
        ending = await world.start_waiting(worker.end(claimed[3]))
    await ending
    waiting = (await world.states(batch), (await world.job(batch, 7))["n_unfinished"])
    await world.api.cancel_jobs(world.caller, batch, [2, 3])
    await worker.end(*claimed[1:3], reason=Reason.CANCELLED)
    await world.sweep()
    assert waiting == ("sRRsrrpp", 1)
    assert (await world.states(batch), await world.findings()) == ("sccsrrcc", {})
    await remove(world, await delete(world, batch))
    assert not await world.admin.fetch("SELECT FROM weft.parent_share WHERE batch_id = $1", batch)


async def test_share_of_1000_jobs(world: World) -> None:
    """Told by reports, at the same moment, and of a cancel by the driver; children of an array."""
    rows = array_rows(1000, 150, edges={1001: [range(one, one + 1) for one in range(1, 1001)]})
    rows.edge_parent_n = [SHARE_NEED - 95] * 1000
    batch, worker, claimed = await world.submit_and_claim(rows, limit=1000)
    await world.api.cancel_jobs(world.caller, batch, [*range(951, 1001)])
    await worker.end(*claimed[950:], reason=Reason.CANCELLED)
    await world.sweep()
    (share,) = (await world.api.why_job(world.caller, batch, 1001)).shares
    await asyncio.gather(*(worker.end(*claimed[n : min(n + 8, 949)]) for n in range(0, 949, 8)))
    await world.sweep()
    assert (share.of, share.n_failed) == ("array1", 50)
    assert (await world.states(batch))[1000:] == "p" * 150
    await worker.end(claimed[949])
    assert (await world.states(batch))[1000:] == "r" * 150
