"""The audit finds what must never be of jobs that travel: each is broken once on purpose."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import pytest_asyncio

from store.barriers import set_quota, visit
from store.test_transports import Rabbit, messages_of, open_rabbit
from store.world import World
from weft.sql import files_of

OFFERED = "queued_jobs_are_offered"


@pytest_asyncio.fixture(loop_scope="session")
async def rabbit(world: World) -> Rabbit:
    """Give a world with a queue that travels."""
    return await open_rabbit(world)


@asynccontextmanager
async def undone(world: World) -> AsyncIterator[None]:
    """Take all changes back."""
    transaction = world.admin.transaction()
    await transaction.start()
    try:
        yield
    finally:
        await transaction.rollback()


async def found(world: World, batch: int) -> set[str]:
    """Return which checks find something of a batch, or of no batch."""
    checks = set()
    for file in files_of("audit"):
        rows = [dict(row) for row in await world.admin.fetch(file.text)]
        if any(row.get("batch_id") in {None, batch} for row in rows):
            checks.add(file.name)
    return checks


@pytest.mark.parametrize(
    ("change", "check"),
    [
        ("DELETE FROM weft.transport_offer WHERE batch_id = $1", OFFERED),
        ("UPDATE weft.job SET state = 1, listed = true WHERE batch_id = $1", OFFERED),
        (("UPDATE weft.job SET state = 4, attempt = 1, claimed_at = now(), incarnation_id = ("
         "SELECT max(incarnation_id) FROM weft.worker_incarnation) WHERE batch_id = $1"), OFFERED),
        ("UPDATE weft.transport_offer SET attempt = 1 WHERE batch_id = $1", OFFERED),
        ("UPDATE weft.transport_offer SET job_id = job_id + 90 WHERE batch_id = $1", OFFERED),
        (("UPDATE weft.job SET state = 9, cancelled_at = now() - interval '1 hour' "
         "WHERE batch_id = $1"), OFFERED),
        ("DELETE FROM weft.place WHERE batch_id = $1", "places_have_jobs"),
        (("UPDATE weft.gate SET n_taken = 0 WHERE gate_id IN ("
         "SELECT gate_id FROM weft.place WHERE batch_id = $1)"), "places_are_counted"),
        (("UPDATE weft.user_share SET running_m = 0 WHERE user_id = ("
         "SELECT user_id FROM weft.batch WHERE batch_id = $1)"), "shares_equal_jobs"),
    ],
)  # fmt: skip
async def test_each_fault_is_named(rabbit: Rabbit, change: str, check: str) -> None:
    world = rabbit.world
    await set_quota(world, "ada", cores=3)
    await visit(world)
    batch = await rabbit.submit(2)
    await rabbit.consumer()
    assert len(messages_of(await rabbit.round())) == 2
    await world.driver.note_transport(rabbit.epoch, rabbit.names[0], None, [])
    await world.fold()
    async with undone(world):
        before = await found(world, batch)
        await world.admin.execute(change, batch)
        after = await found(world, batch)

    assert check in after - before
