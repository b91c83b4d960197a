"""A gate opens at its date by itself, while the driver sleeps."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from store.barriers import licence
from store.world import World
from weft.driver.adapters import Adapters
from weft.driver.lead import Driver
from weft.settings import Settings
from weft.store import open_driver_store

pytestmark = pytest.mark.slow

SETTINGS = Settings(home=Path("/nowhere"), heartbeat_s=3600)
_ASLEEP = "SELECT waiting FROM weft.driver_state"
_ADMITTED_AT = "SELECT min(admitted_at) FROM weft.place WHERE batch_id = $1"


@asynccontextmanager
async def sleeping_driver(world: World) -> AsyncIterator[None]:
    """Run a driver whose heartbeats never come, and wait until it sleeps."""
    async with open_driver_store(world.backend.dsns["weft_driver"]) as store:
        driver = Driver(store, store.notices, SETTINGS, Adapters(), on_state=lambda _state: None)
        task = asyncio.create_task(driver.run())
        try:
            await until(world, _ASLEEP)
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def until(world: World, question: str, *arguments: object) -> None:
    """Ask until the answer is not null or false."""
    async with asyncio.timeout(30):
        while not await world.admin.fetchval(question, *arguments):
            pass


@pytest.mark.parametrize("jobs_first", [False, True])
async def test_gate_opens_while_the_driver_sleeps(own_world: World, *, jobs_first: bool) -> None:
    batch = await own_world.submit(0)
    opens_at = datetime.now(UTC) + timedelta(seconds=2)
    if jobs_first:
        await licence(own_world, None, batch, opens_at=opens_at)
        await own_world.submit(3, batch=batch)
    async with sleeping_driver(own_world):
        if not jobs_first:
            await licence(own_world, None, batch, opens_at=opens_at)
            await own_world.submit(3, batch=batch)
        await until(own_world, _ADMITTED_AT, batch)
    admitted_at = await own_world.admin.fetchval(_ADMITTED_AT, batch)

    assert opens_at <= admitted_at
    assert len(await (await own_world.worker()).claim()) == 3


async def test_date_that_is_moved_forward_rings_the_driver(own_world: World) -> None:
    batch = await own_world.submit(0)
    gate = await licence(own_world, None, batch, opens_at=datetime.now(UTC) + timedelta(hours=1))
    await own_world.submit(3, batch=batch)
    async with sleeping_driver(own_world):
        await own_world.admin.execute(
            "WITH moved AS (UPDATE weft.gate SET opens_at = clock_timestamp() + interval '0.1 s' "
            "WHERE gate_id = $1) SELECT weft._ring_gates(ARRAY[$1::int])", gate,
        )  # fmt: skip
        await until(own_world, _ADMITTED_AT, batch)
