"""Updates with parents in earlier updates, while the sweep tells children of ended parents.

Each call is made once, on a connection of its own: the store would repeat it after a deadlock.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import asyncpg

from builders import job_rows
from store.test_submission import open_update
from store.world import World
from weft.store.database import call_on
from weft.store.submission import _bunch


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
            api, "commit_update", tenant_id=world.caller.tenant_id, batch_id=batch,
            of_update_id=update,
        )  # fmt: skip
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
    batch = await world.submit(job_rows(4, parents={2: [1]}))
    worker = await world.worker()
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
