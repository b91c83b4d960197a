"""A database of one's own for tests that look at what is read in all of it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from store.backend import open_backend
from store.world import Worker, World


@pytest.fixture
async def own_world(database: dict[str, str]) -> AsyncIterator[World]:
    """Give a world alone in its database. An audit of what is so full costs half of the test."""
    async with open_backend(database) as backend, AsyncExitStack() as stack:
        result = World(backend, stack)
        await result.open()
        result.admin = await result.connect()  # it has planned nothing yet
        yield result


@pytest.fixture
async def worker(own_world: World) -> Worker:
    """Give a worker that takes all."""
    return await own_world.worker()
