"""A release after this one: this program with two migrations more, and a schema that has them."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, ignore_patterns
from typing import Any

from weft.sql import number_of, whole_schema

SOURCE = Path(__file__).resolve().parents[2] / "src" / "weft"
NUMBER = number_of(whole_schema().name) + 1
ADDS, TAKES = f"{NUMBER:04d}_pre_colours", f"{NUMBER + 1:04d}_post_serves"
SCHEMA = f"{NUMBER + 1:04d}_schema"
TABLE = "CREATE TABLE weft.colour (name text PRIMARY KEY);\n"
INDEX = "CREATE INDEX pool_serves_idx ON weft.pool (serves_tenant_id, name);\n"
CALL = """
import asyncio, msgspec, sys
from weft.core.errors import WeftError
from weft.store import open_admin
async def main():
    try:
        async with open_admin(sys.argv[2]) as admin:
            said = await getattr(admin, sys.argv[1])()
    except WeftError as error:
        said = {"code": error.code, "detail": error.detail}
    print(msgspec.json.encode(said).decode())
asyncio.run(main())
"""


@dataclass(frozen=True)
class NextRelease:
    """The sources of a release after this one."""

    folder: Path

    def call(self, name: str, dsn: str, **environ: str) -> Any:  # noqa: ANN401 (any document)
        """Let it do something as the owner of a database; return the answer, or the error."""
        done = subprocess.run(
            [sys.executable, "-c", CALL, name, dsn],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(self.folder), **environ},
        )
        return json.loads(done.stdout)


def make_next_release(folder: Path) -> NextRelease:
    """Write the sources of the next release into a folder."""
    copytree(SOURCE, folder / "weft", ignore=ignore_patterns("__pycache__"))
    sql = folder / "weft" / "sql"
    (sql / "migrations").mkdir(exist_ok=True)
    (sql / "migrations" / f"{ADDS}.sql").write_text(TABLE)
    (sql / "migrations" / f"{TAKES}.sql").write_text("DROP INDEX weft.pool_serves_idx;\n")
    (sql / "schema" / "99_colours.sql").write_text(TABLE)
    pools = sql / "schema" / "04_pools.sql"
    assert INDEX in pools.read_text()
    pools.write_text(pools.read_text().replace(INDEX, ""))
    return NextRelease(folder)
