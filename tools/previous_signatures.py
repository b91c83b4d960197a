"""Write tests/migrations/previous_signatures.txt: what an api or a worker of this program calls.

Such a function keeps its signature for one release. Run it when a release is made; and until
version 0.1.0 is, in each commit that changes a signature in place.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

import asyncpg

from weft import __version__
from weft.sql import program_schema
from weft.store import open_admin
from weft.store.embedded import EmbeddedServer

FILE = Path(__file__).resolve().parents[1] / "tests" / "migrations" / "previous_signatures.txt"
SIGNATURES = """
    SELECT DISTINCT p.proname || '(' || pg_get_function_arguments(p.oid) || ') '
           || 'RETURNS ' || pg_get_function_result(p.oid)
    FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.pronamespace = 'weft'::regnamespace
      AND a.grantee IN ('weft_api'::regrole, 'weft_worker'::regrole)
    ORDER BY 1
"""
HEAD = """# What an api or a worker of the previous release calls (tools/previous_signatures.py).
# Such a function keeps its signature for one release; one that must change gets a new name.
# Release {release}, schema {schema}: one with further ones has a migration, if only a comment.
"""
"""The last line is read by a test: roles wait for a schema of a later number alone."""


async def signatures_of(dsn: str) -> list[str]:
    """Return the signatures of the functions that an api or a worker may call."""
    connection = await asyncpg.connect(dsn)
    try:
        return [row[0] for row in await connection.fetch(SIGNATURES)]
    finally:
        await connection.close()


async def _made(dsn: str) -> list[str]:
    async with open_admin(dsn) as admin:
        await admin.migrate()
    return await signatures_of(dsn)


def main() -> int:
    """Make a database and write its list."""
    with tempfile.TemporaryDirectory(prefix="weft-previous-") as directory:
        base = Path(directory)
        server = EmbeddedServer(base / "pg", base / "run")
        server.initialise("previous", durable=False)
        try:
            server.start(options=("fsync=off",))
            found = asyncio.run(_made(server.dsn("postgres", "previous", "postgres")))
        finally:
            server.stop(fast=False)
    head = HEAD.format(release=__version__, schema=program_schema())
    FILE.write_text(head + "".join(f"{line}\n" for line in found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
