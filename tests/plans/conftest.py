"""A database of one's own for tests that look at what is read in all of it."""

from collections.abc import AsyncIterator

import pytest

from store.world import World, open_backend, open_world


@pytest.fixture
async def own_world(database: dict[str, str]) -> AsyncIterator[World]:
    """Give a world alone in its database."""
    async with open_backend(database) as backend, open_world(backend) as result:
        yield result
