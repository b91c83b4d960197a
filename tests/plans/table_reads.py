"""What a transaction read of each table, as the server counts it: no plan is parsed."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg

from store.world import World
from weft.store.database import call_on

N_JOBS = 20_000


@dataclass
class Reads:
    """What a transaction read of one table."""

    scans: int
    rows_scanned: int
    rows_by_index: int
    index_scans: int


@asynccontextmanager
async def reads(connection: asyncpg.Connection, *tables: str) -> AsyncIterator[dict[str, Reads]]:
    """Run in a transaction and tell what it read, without what the session read before."""
    result: dict[str, Reads] = {}
    await connection.execute("SELECT pg_stat_force_next_flush()")
    async with connection.transaction():
        yield result
        rows = await connection.fetch(
            "SELECT relname, seq_scan, seq_tup_read, coalesce(idx_tup_fetch, 0), "
            "coalesce(idx_scan, 0) FROM pg_stat_xact_user_tables "
            "WHERE schemaname = 'weft' AND relname = ANY ($1)",
            tables,
        )
        result.update({row[0]: Reads(*row[1:]) for row in rows})


async def read_by_call(
    world: World,
    role: str,
    tables: Sequence[str],
    function: str,
    **arguments: Any,  # noqa: ANN401
) -> tuple[list[asyncpg.Record], dict[str, Reads]]:
    """Call a function on a connection without plans; return its rows, and what it read."""
    connection = await world.connect(role)
    async with reads(connection, *tables) as found:
        rows = await call_on(connection, function, **arguments)
    await connection.close()
    return rows, found
