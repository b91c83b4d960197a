"""What the server writes for each job: bytes of WAL, and commits; no machine changes them."""

import asyncpg

from weft.bench.conditions import query

Written = tuple[float, float]
"""Bytes of WAL and commits since the server began."""


async def written(admin_dsn: str) -> Written:
    """Return what the server has written until now; commits of the last second may be missing."""
    connection = await asyncpg.connect(admin_dsn)
    try:
        row = await connection.fetchrow(query("written"))
    finally:
        await connection.close()
    return row["wal_bytes"], row["commits"]


def written_for(before: Written, after: Written, jobs: int) -> dict[str, float]:
    """Return `wal_bytes` and `commits` of each of these jobs."""
    return {
        "wal_bytes": round((after[0] - before[0]) / jobs),
        "commits": round((after[1] - before[1]) / jobs, 4),
    }
