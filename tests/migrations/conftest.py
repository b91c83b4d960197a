"""What tests of migrations share."""

from collections.abc import AsyncIterator

import asyncpg
import pytest


@pytest.fixture
async def owner(database: dict[str, str]) -> AsyncIterator[asyncpg.Connection]:
    """Give a connection of the owner of the database."""
    connection = await asyncpg.connect(database["admin"])
    yield connection
    await connection.close()
