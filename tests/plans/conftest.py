"""A database of one's own for tests that look at what is read in all of it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from store.backend import open_backend
from store.world import Worker, World

Analyse = Callable[[], Awaitable[None]]
_AS_IT_IS = """
    DO $$ DECLARE name text; BEGIN
        FOR name IN SELECT oid::regclass FROM pg_class
            WHERE relnamespace = 'weft'::regnamespace AND relkind = 'r'
        LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = false)', name); END LOOP;
    END $$
"""


@pytest.fixture
async def own_world(database: dict[str, str]) -> AsyncIterator[World]:
    """Give a world alone in its database, which has the statistics that a test lets it have.
    An audit of what is so full costs half of the test.
    """
    async with open_backend(database) as backend, AsyncExitStack() as stack:
        result = World(backend, stack)
        await result.open()
        await result.admin.execute(_AS_IT_IS)
        result.admin = await result.connect()  # it has planned nothing yet
        yield result


@pytest.fixture(params=["never analysed", "analysed"])
def analyse(own_world: World, request: pytest.FixtureRequest) -> Analyse:
    """Analyse all tables at the moment of the call, in the second of two walks of a test."""

    async def call() -> None:
        if request.param == "analysed":
            await own_world.admin.execute("ANALYZE")

    return call


@pytest.fixture
async def worker(own_world: World) -> Worker:
    """Give a worker that takes all."""
    return await own_world.worker()
