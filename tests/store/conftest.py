"""Worlds: one tenant each, many of them in one database, because a database takes longer to make
than most tests take. All tests run on one event loop, so that connections and plans last.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from contexts import async_fixture_of, fixture_of
from store.backend import Backend, open_backend
from store.site import open_site
from store.world import Worker, World, open_world


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/store/" in item.nodeid and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


shared_database = fixture_of(lambda postgres: postgres.clean_dsns(), "module")
"""The DSNs of one database for all tests of a file that leave it intact.

Not for all files: a file ends with an audit of the whole database.
"""
backend = async_fixture_of(lambda shared_database: open_backend(dsns=shared_database), "module")
"""Connections to the shared database."""


@pytest.fixture(scope="session")
def audited_later(request: pytest.FixtureRequest) -> bool:
    """Say whether a file is audited at its end: each test's own audit would read all others'."""
    return str(request.config.getoption("audit")) == "file"


world = async_fixture_of(
    lambda backend, audited_later: open_world(backend, audited_later=audited_later)
)
"""A tenant of one's own in the shared database."""


@pytest_asyncio.fixture(loop_scope="session")
async def worker(world: World) -> Worker:
    """Give a worker that takes all."""
    return await world.worker()


@pytest_asyncio.fixture(loop_scope="session")
async def own_world(database: dict[str, str]) -> AsyncIterator[World]:
    """Give a database of one's own, for tests that count what happens in all of it."""
    async with open_backend(database) as own, open_world(own) as result:
        yield result


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def suite_backend(postgres: Any) -> AsyncIterator[Backend]:  # noqa: ANN401 (as above)
    """Give connections to a database that only tests of a `site` use."""
    with postgres.clean_dsns() as dsns:
        async with open_backend(dsns) as result:
            yield result


site = async_fixture_of(
    lambda suite_backend, audited_later: open_site(suite_backend, audited_later=audited_later)
)
"""The place of a test."""
