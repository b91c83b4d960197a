"""Jobs that wait for others, in their update and in later ones, also while others end."""

import asyncio
from collections.abc import Mapping
from typing import Any

import asyncpg
import pytest

from builders import job_rows, tree
from store.batch_steps import open_update
from store.world import World
from weft.core.states import Reason
from weft.store.database import call_on
from weft.store.submission import _bunch


async def test_child_waits_for_all_parents_even_if_one_failed(world: World) -> None:
    batch, worker, (one, two) = await world.submit_and_claim(
        job_rows(4, parents={3: [1, 2], 4: [3]})
    )
    await worker.end(one, reason=Reason.EXIT)
    before = await world.states(batch)
    await worker.end(two)
    await world.sweep()

    assert before == "fRpp"
    assert await world.states(batch) == "fscc"
    child, grandchild = [await world.api.get_job(world.caller, batch, n) for n in (3, 4)]
    assert (child["message"], grandchild["message"]) == (
        "parent j1: failed",
        "parent j3: cancelled",
    )
    last = (await world.api.job_history(world.caller, batch, 3))[-1]
    assert (last["subtype"], last["message"]) == ("parent did not succeed", "parent j1: failed")


@pytest.mark.parametrize("reason", [None, Reason.EXIT, Reason.OOM, Reason.CANCELLED])
async def test_child_runs_whatever_became_of_its_parents(
    world: World, reason: Reason | None
) -> None:
    """It always runs, or the end of this parent is enough for it, or its start."""
    parents, always = {2: [1], 3: [2], 4: [1], 5: [1]}, [False, True, False, False, False]
    batch, worker = await world.submit_and_run(
        job_rows(5, parents=parents, always_run=always, on_end={(4, 1)}, on_start={(5, 1)}),
        reason=reason,
    )
    await world.sweep()

    assert await worker.run() == [2, 4, 5]
    # Its own child asks for the success of its parent, not of its grandparent.
    assert await worker.run() == [3]
    assert (await world.states(batch))[1:] == "ssss"


async def test_lost_parent_is_not_an_end(world: World) -> None:
    batch, worker = await world.submit_and_run(
        job_rows(2, parents={2: [1]}, max_attempts=2, retry_on=[Reason.EXIT]), reason=Reason.LOST
    )
    await worker.run(reason=Reason.EXIT)

    assert await world.states(batch) == "rp"
    await worker.run()
    assert await world.states(batch) == "sr"


async def test_all_reports_of_one_call_count(world: World) -> None:
    """Two parents of one child in a call; parents of the same child with different ends."""
    batch, worker, claimed = await world.submit_and_claim(
        job_rows(7, parents={5: [1, 2], 6: [2, 3], 7: [5, 6]})
    )
    await worker.end(*claimed)

    assert await world.states(batch) == "ssssrrp"
    await worker.run()
    assert await worker.run() == [7]


@pytest.mark.slow
@pytest.mark.parametrize("reason", [None, Reason.EXIT])
async def test_fan_of_3000_opens(world: World, reason: Reason | None) -> None:
    """Too many children for one report: they are told in bounded sets."""
    n = 3001
    batch, worker = await world.submit_and_run(
        job_rows(n, parents={job: [1] for job in range(2, n + 1)}), reason=reason
    )
    before = await world.states(batch)
    await world.sweep(1000)

    assert before[1:] == "p" * 3000
    assert (await world.states(batch))[1:] == ("r" if reason is None else "c") * 3000
    assert len(await worker.claim(4000)) == (3000 if reason is None else 0)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 7])
async def test_sweep_does_not_depend_on_its_size(world: World, limit: int) -> None:
    """Two cancelled parents with common children and grandchildren."""
    parents = {3: [1], 4: [1, 2], 5: [2], 6: [3, 4, 5], 7: [6], 8: [1, 2], 9: [1, 6], 10: [1, 6]}
    always, on_end = [False] * 7 + [True, False, False], {(9, 1), (9, 6), (10, 6)}
    batch = await world.submit(job_rows(10, parents=parents, always_run=always, on_end=on_end))
    await world.api.cancel_jobs(world.caller, batch, [1, 2])
    await world.sweep(limit)

    assert await world.states(batch) == "cccccccrrc"


async def test_parents_at_once_are_both_counted(world: World) -> None:
    """The second waits for the child's row and counts on what the first left."""
    batch, worker, claimed = await world.submit_and_claim(job_rows(3, parents={3: [1, 2]}))
    await asyncio.gather(*[worker.end(one) for one in claimed])

    assert await world.states(batch) == "ssr"


@pytest.mark.parametrize("reason", [None, Reason.EXIT])
async def test_parent_that_ends_while_an_edge_to_it_is_added(
    world: World, reason: Reason | None
) -> None:
    """Either the report sees the edge or the bunch sees the end; the child is settled once."""
    batch, worker, (one, two) = await world.submit_and_claim(2)
    update = await open_update(world, batch, 2)
    rows = job_rows(2, parents={1: [-1], 2: [-1, -2]})
    async with world.during(
        "weft_api", "add_jobs", **_bunch(world.caller, batch, update.update_id, rows)
    ):
        ending = await world.start_waiting(worker.end(one, reason=reason))
    await ending
    staged = await world.states(batch)
    await world.api.commit_update(world.caller, batch, update.update_id)
    await world.sweep()

    assert staged[2:] == "pp"
    assert (await world.states(batch))[2:] == ("rp" if reason is None else "cp")
    await worker.end(two)
    await world.sweep()
    assert (await world.states(batch))[2:] == ("rr" if reason is None else "cc")


@pytest.mark.parametrize("reason", [None, Reason.EXIT])
async def test_parent_that_ends_while_the_update_is_committed(
    world: World, reason: Reason | None
) -> None:
    batch, worker, (one,) = await world.submit_and_claim(1)
    update = await open_update(world, batch, 1)
    await world.api.add_jobs(world.caller, batch, update.update_id, job_rows(1, parents={1: [-1]}))
    async with world.during_request("commit_update", batch, of_update_id=update.update_id):
        ending = await world.start_waiting(worker.end(one, reason=reason))
    await ending
    await world.sweep()

    assert (await world.states(batch))[1:] == ("r" if reason is None else "c")
    assert await worker.run() == ([2] if reason is None else [])


async def test_child_of_a_parent_that_did_not_succeed_before_is_cancelled_at_the_commit(
    world: World,
) -> None:
    batch, _worker = await world.submit_and_run(1, reason=Reason.EXIT)
    parents, always = {1: [-1], 2: [1], 3: [-1], 4: [-1]}, [False, False, True, False]
    rows = job_rows(4, parents=parents, always_run=always, on_end={(4, -1)})
    await world.submit(rows, batch=batch)
    await world.sweep()

    assert await world.states(batch) == "fccrr"


async def test_dependencies_do_not_cross_batches(world: World) -> None:
    one = await world.submit(job_rows(2, parents={2: [1]}))
    two, worker, claimed = await world.submit_and_claim(job_rows(2, parents={2: [1]}))
    await worker.end(claimed[0])

    assert (await world.states(one), await world.states(two)) == ("sr", "Rp")


async def test_edge_to_a_parent_whose_children_are_not_told_yet(world: World) -> None:
    """The sweep will tell the new child as well, so the parent's end is not counted twice."""
    batch, worker = await world.submit_to_worker(job_rows(3, parents={3: [1]}))
    await world.api.cancel_jobs(world.caller, batch, [1])
    rows = job_rows(3, parents={1: [-1, -2], 2: [-1, -2], 3: [-1]}, always_run=[True, False, True])
    await world.submit(rows, batch=batch)
    before = await world.states(batch)
    await world.sweep()
    swept = await world.states(batch)
    findings = await world.findings()
    await worker.run()
    await world.sweep()

    assert before == "crpppp"
    assert (swept, findings) == ("crcppr", {})
    assert await world.states(batch) == "cscrcs"


async def test_edge_that_is_added_below_the_cursor_of_a_sweep(world: World) -> None:
    """An update with smaller numbers is filled after the sweep has passed them."""
    batch = await world.submit(2)
    late, early = await open_update(world, batch, 2), await open_update(world, batch, 3)
    first = job_rows(3, parents={1: [-1], 2: [-1], 3: [-1]}, always_run=True)
    await world.api.add_jobs(world.caller, batch, early.update_id, first)
    await world.api.commit_update(world.caller, batch, early.update_id)
    await world.api.cancel_jobs(world.caller, batch, [1])
    await world.driver.sweep("settle_children", await world.lead(), limit_jobs=2)
    second = job_rows(2, parents={1: [-1, -2], 2: [-1]}, always_run=True)
    await world.api.add_jobs(world.caller, batch, late.update_id, second)
    await world.api.commit_update(world.caller, batch, late.update_id)
    await world.sweep()

    assert await world.states(batch) == "crprrrr"


async def test_sweep_waits_for_an_edge_that_is_being_added(world: World) -> None:
    """The first edge of its batch, to a job that the sweep is about to end."""
    batch = await world.submit(job_rows(2, group=[1, 0]), groups=tree("a"))
    update = await open_update(world, batch, 1)
    await world.api.cancel_group(world.caller, batch, 1, force=False)
    async with world.transaction("weft_api") as api:
        rows = job_rows(1, parents={1: [-1]})
        await call_on(api, "add_jobs", **_bunch(world.caller, batch, update.update_id, rows))
        sweeping = await world.start_waiting(world.sweep())
    await sweeping
    await world.api.commit_update(world.caller, batch, update.update_id)
    await world.sweep()

    assert await world.states(batch) == "crc"


async def test_edge_is_added_beside_a_sweep_of_its_parent(world: World) -> None:
    """The sweep tells the children of a parent in a transaction that is open, and the reverse."""
    batch = await world.submit(job_rows(3, parents={2: [1], 3: [1]}, always_run=True))
    update, other = await open_update(world, batch, 1), await open_update(world, batch, 1)
    rows = job_rows(1, parents={1: [-1]}, always_run=True)
    await world.api.cancel_jobs(world.caller, batch, [1])
    async with world.during(
        "weft_driver", "settle_children", epoch=await world.lead(), limit_jobs=2
    ):
        adding = await world.start_waiting(
            world.api.add_jobs(world.caller, batch, update.update_id, rows)
        )
    await adding
    async with world.during(
        "weft_api", "add_jobs", **_bunch(world.caller, batch, other.update_id, rows)
    ):
        async with asyncio.timeout(30):
            await world.sweep()
    for one in (update, other):
        await world.api.commit_update(world.caller, batch, one.update_id)
    await world.sweep()

    assert await world.states(batch) == "crrrr"


async def test_batch_is_deleted_while_its_first_edge_is_added(world: World) -> None:
    """Both lock the batch's row first: a bunch that came to it last would wait for the deletion,
    which waits for the bunch.
    """
    batch = await world.submit(1)
    update = await open_update(world, batch, 1)
    api, deleter, other = [await world.connect() for _ in range(3)]
    rows = job_rows(1, parents={1: [-1]})
    delete = {
        "tenant_id": world.caller.tenant_id,
        "user_id": world.caller.user_id,
        "batch_id": batch,
        "actor": "ann",
        "trace_id": "",
        "idempotency_key": None,
        "digest": b"",
    }
    async with other.transaction():
        await other.execute("SELECT FROM weft.job WHERE batch_id = $1 FOR UPDATE", batch)
        adding = await world.start_waiting(
            call_on(api, "add_jobs", **_bunch(world.caller, batch, update.update_id, rows))
        )
        deleting = asyncio.create_task(call_on(deleter, "delete_batch", **delete))
        await world.until_somebody_waits(2)
    ((is_new,),) = await adding
    await deleting

    assert is_new


async def sweep(world: World, limit: int = 100) -> asyncio.Task[Any]:
    """Begin to tell children."""
    driver, epoch = await world.connect("weft_driver"), await world.lead()
    return asyncio.create_task(call_on(driver, "settle_children", epoch=epoch, limit_jobs=limit))


async def child_of(world: World, batch: int, *parents: int) -> tuple[int, Mapping[str, Any]]:
    """Begin an update with one child of earlier jobs; return it and what adds the child."""
    update = (await open_update(world, batch, 1)).update_id
    rows = job_rows(1, parents={1: [-parent for parent in parents]}, always_run=True)
    return update, _bunch(world.caller, batch, update, rows)


async def lock(world: World, batch: int, job: int) -> asyncpg.Connection:
    """Return a connection with an open transaction that holds the row of a job."""
    connection = await world.connect()
    await connection.execute("BEGIN")
    await connection.execute(
        "SELECT FROM weft.job WHERE batch_id = $1 AND job_id = $2 FOR UPDATE", batch, job
    )
    return connection


async def test_child_of_a_parent_whose_children_are_told_and_of_one_of_those(world: World) -> None:
    """The sweep holds the row of the ended parent, and waits for the rows of its children."""
    batch = await world.submit(job_rows(4, parents={3: [1, 2], 4: [1, 2]}))
    await world.api.cancel_jobs(world.caller, batch, [1])
    update, columns = await child_of(world, batch, 1, 4)
    api, other = await world.connect("weft_api"), await lock(world, batch, 3)
    sweeping = await sweep(world)
    await world.until_somebody_waits()
    adding = asyncio.create_task(call_on(api, "add_jobs", **columns))
    await world.until_somebody_waits(2)
    await other.execute("COMMIT")
    told, _added = await asyncio.gather(sweeping, adding)
    await world.api.commit_update(world.caller, batch, update)
    await world.sweep()

    assert told[0][0] == 2
    assert await world.states(batch) == "crppp"


async def test_work_is_announced_beside_a_sweep_that_announced(world: World) -> None:
    """A sweep that made a user's first job ready waits for no further rows of jobs."""
    parents = {2: [1], 3: [1], 4: [3], 5: [3]}
    batch = await world.submit(
        job_rows(5, parents=parents, always_run=[False, True] + [False] * 3)
    )
    await world.api.cancel_jobs(world.caller, batch, [1])
    await world.fold()
    is_active = await world.admin.fetchval(
        "SELECT active FROM weft.user_share WHERE user_id = $1", world.caller.user_id
    )
    update, columns = await child_of(world, batch, 4)
    async with world.transaction("weft_api") as api:
        await call_on(api, "add_jobs", **columns)
        sweeping = await sweep(world)
        waiting = asyncio.create_task(world.until_somebody_waits())
        await asyncio.wait({sweeping, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        await call_on(
            api,
            "commit_update",
            tenant_id=world.caller.tenant_id,
            batch_id=batch,
            of_update_id=update,
        )
    await sweeping
    await world.sweep()

    assert not is_active
    assert await world.states(batch) == "crcccr"


async def test_parent_that_ends_while_it_is_locked(world: World) -> None:
    """Its children are being told when the update finds that out: its call is repeated."""
    batch = await world.submit(job_rows(5, parents={3: [1], 4: [2, 3], 5: [2, 3]}))
    await world.api.cancel_jobs(world.caller, batch, [1])
    update, columns = await child_of(world, batch, 3, 5)
    api, driver = await world.connect("weft_api"), await world.connect("weft_driver")
    other = await lock(world, batch, 5)
    async with driver.transaction():
        await call_on(driver, "settle_children", epoch=await world.lead(), limit_jobs=1)
        adding = await world.start_waiting(call_on(api, "add_jobs", **columns))
    await world.until_somebody_waits()  # for the fifth
    sweeping = await sweep(world)
    await world.until_somebody_waits(2)
    await other.execute("COMMIT")
    await asyncio.gather(sweeping, adding)
    await world.api.commit_update(world.caller, batch, update)
    await world.sweep()

    assert await world.states(batch) == "crcppp"


async def test_parent_that_is_reported_while_others_are_locked(world: World) -> None:
    """It began to run after it was looked at; its report waits for a child that is locked."""
    batch, worker = await world.submit_to_worker(job_rows(4, parents={2: [1]}))
    update, columns = await child_of(world, batch, 2, 3, 4)
    api, other = await world.connect("weft_api"), await lock(world, batch, 3)
    adding = await world.start_waiting(call_on(api, "add_jobs", **columns))
    claimed = await worker.claim()
    ending = asyncio.create_task(worker.end(*claimed))
    await world.until_somebody_waits(2)
    await other.execute("COMMIT")
    await asyncio.gather(ending, adding)
    await world.api.commit_update(world.caller, batch, update)

    assert [one.job_id for one in claimed] == [1, 4]
    assert await world.states(batch) == "srrsp"


async def test_start_of_a_parent_is_enough(world: World) -> None:
    """Told once, of its first attempt, also to children of later updates; a cancel is no start."""
    rows = job_rows(
        6,
        parents={3: [1], 4: [1, 2], 5: [2], 6: [1]},
        on_start={(3, 1), (4, 1), (4, 2), (5, 2)},
        max_attempts=2,
        retry_on=[Reason.EXIT],
    )
    batch, worker, (one, two) = await world.submit_and_claim(rows)
    claimed = await world.states(batch)
    await worker.start(one)
    await worker.start(one)
    begun = await world.states(batch)
    await world.submit(
        job_rows(2, parents={1: [-1], 2: [-2]}, on_start={(1, -1), (2, -2)}), batch=batch
    )
    later = await world.states(batch)
    await world.api.cancel_jobs(world.caller, batch, [2])
    await worker.end(two, reason=Reason.CANCELLED, start_age_us=None)
    await worker.end(one, reason=Reason.EXIT)
    await world.sweep()

    assert (claimed, begun) == ("RRpppp", "RRrppp")
    assert later == "RRrppprp"
    assert await world.states(batch) == "rcrccprc"
    job = await world.api.get_job(world.caller, batch, 4)
    assert (job["start_parents"], job["message"]) == ([1, 2], "parent j2: cancelled")
    assert (await world.api.get_job(world.caller, batch, 6)).get("start_parents") is None


async def test_start_of_a_parent_of_3000(world: World) -> None:
    """The driver tells them in bounded sets, and a report waits for none of them."""
    parents = {child: [1] for child in range(2, 3002)}
    rows = job_rows(3001, parents=parents, on_start={(child, 1) for child in parents})
    batch, worker, claimed = await world.submit_and_claim(rows)
    await worker.start(*claimed)
    before = await world.states(batch)
    await worker.end(*claimed)
    while await world.driver.sweep("count_parent_ends", await world.lead(), limit_jobs=1000):
        pass

    assert before == "R" + "p" * 3000
    assert await world.states(batch) == "s" + "r" * 3000


async def test_start_meets_an_update_that_waits_for_it(world: World) -> None:
    """A report that waits for the lock of who adds a child sees that child."""
    batch, worker, (one,) = await world.submit_and_claim(1)
    update = await open_update(world, batch, 1)
    rows = job_rows(1, parents={1: [-1]}, on_start={(1, -1)})
    async with world.during(
        "weft_api", "add_jobs", **_bunch(world.caller, batch, update.update_id, rows)
    ):
        starting = await world.start_waiting(worker.start(one))
    assert await starting == ["ok"]
    await world.api.commit_update(world.caller, batch, update.update_id)

    assert await world.states(batch) == "Rr"
