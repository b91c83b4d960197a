"""Write tests/migrations/previous_signatures.txt: what programs of the previous release call.

    tools/previous_signatures.py COMMIT

makes a database with the SQL of that commit and lists the functions that an api or a worker may
call. Run it when a release is made, with the commit of that release.
"""

import asyncio
import os
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path

import asyncpg

from weft.store.embedded import EmbeddedServer

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "migrations" / "previous_signatures.txt"
SIGNATURES = """
    SELECT DISTINCT p.proname || '(' || pg_get_function_arguments(p.oid) || ') '
           || 'RETURNS ' || pg_get_function_result(p.oid)
    FROM pg_proc p, aclexplode(p.proacl) a
    WHERE p.pronamespace = 'weft'::regnamespace
      AND a.grantee IN ('weft_api'::regrole, 'weft_worker'::regrole)
    ORDER BY 1
"""
HEAD = """# What an api or a worker of commit {commit} calls, made by tools/previous_signatures.py.
# Such a function keeps its signature for one release; one that must change gets a new name.
"""
MIGRATE = """
import asyncio, sys
from weft.store import open_admin
async def main():
    async with open_admin(sys.argv[1]) as admin:
        await admin.migrate()
asyncio.run(main())
"""


def unpack(commit: str, target: Path) -> None:
    """Write the sources of a commit below a folder."""
    archive = subprocess.run(
        ["git", "archive", commit, "src"], check=True, capture_output=True, cwd=ROOT
    ).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as files:
        files.extractall(target, filter="data")


async def signatures_of(dsn: str) -> list[str]:
    """Return the signatures of the functions that an api or a worker may call."""
    connection = await asyncpg.connect(dsn)
    try:
        return [row[0] for row in await connection.fetch(SIGNATURES)]
    finally:
        await connection.close()


def main() -> int:
    """Make a database of that commit and write its list."""
    (commit,) = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="weft-previous-") as directory:
        base = Path(directory)
        unpack(commit, base)
        server = EmbeddedServer(base / "pg", base / "run")
        server.initialise("previous", durable=False)
        try:
            server.start(options=("fsync=off",))
            dsn = server.dsn("postgres", "previous", "postgres")
            subprocess.run(
                [sys.executable, "-c", MIGRATE, dsn],
                check=True, env={**os.environ, "PYTHONPATH": str(base / "src")},
            )  # fmt: skip
            found = asyncio.run(signatures_of(dsn))
        finally:
            server.stop(fast=False)
    FILE.write_text(HEAD.format(commit=commit) + "".join(f"{line}\n" for line in found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
