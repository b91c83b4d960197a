"""A database as a previous release left it, filled by a test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from weft.sql import files_of

_TENANT = """
    INSERT INTO weft.pool (name) VALUES ('p');
    INSERT INTO weft.tenant (name) VALUES ('t');
    INSERT INTO weft.tenant_user (tenant_id, name) VALUES (1, 'ada');
    INSERT INTO weft.billing_project (tenant_id, name) VALUES (1, 'default');
    INSERT INTO weft.queue (tenant_id, pool_id, name) VALUES (1, 1, 'default');
    INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight)
    VALUES (1, 1, 1, true, 1);
"""


@asynccontextmanager
async def older_schema(dsn: str, before: str, rows: str) -> AsyncIterator[asyncpg.Connection]:
    """Apply the migrations that come before a name and add rows; give the owner's connection.

    There are a tenant, a pool, a user, a project and a queue, each of number 1.
    """
    owner = await asyncpg.connect(dsn)
    try:
        await owner.execute("CREATE SCHEMA weft")
        await owner.execute(
            "CREATE TABLE weft.migration (name text PRIMARY KEY, checksum text NOT NULL, "
            "applied_at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
        for file in files_of("migrations"):
            if file.name < before:
                await owner.execute(file.text)
                await owner.execute(
                    "INSERT INTO weft.migration (name, checksum) VALUES ($1, $2)",
                    file.name, file.checksum,
                )  # fmt: skip
        await owner.execute(_TENANT)
        await owner.execute(rows)
        yield owner
    finally:
        await owner.close()


@asynccontextmanager
async def upgraded(dsn: str, name: str, rows: str) -> AsyncIterator[asyncpg.Connection]:
    """Apply one migration to an `older_schema` with these rows; give the owner's connection."""
    (file,) = (one for one in files_of("migrations") if one.name == name)
    async with older_schema(dsn, name, rows) as owner:
        await owner.execute(file.text)
        yield owner
