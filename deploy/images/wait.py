"""Make the home of a role and wait until the database lets it in with the schema of this release:
for an init container, before `weft api`, `weft driver` or `weft worker`.

Arguments: the role, and a directory whose JSON files (callback.json, secret-keys.json) go into
the home. Environment: WEFT_HOME and WEFT_DATABASE, the DSN of the role's login. What cannot mend
itself, as a program that is too old, ends it with the error's exit code.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

from weft.core.errors import Unavailable, WeftError
from weft.store.database import open_database
from weft.store.errors import SchemaMissing, SchemaTooOld
from weft.store.schema_range import check_schema

_WAIT_S = 600


def _make_home(keys: Path) -> None:
    home = Path(os.environ["WEFT_HOME"])
    for directory in (home, home / "logs"):  # a volume may be mounted at the second
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in keys.glob("*.json"):
        mine = home / file.name
        mine.unlink(missing_ok=True)
        mine.touch(mode=0o600)
        mine.write_bytes(file.read_bytes())


async def _wait(role: str) -> None:
    end = time.monotonic() + _WAIT_S
    while True:
        try:
            dsn = os.environ["WEFT_DATABASE"]
            async with open_database(dsn, connections_max=1, timeout_s=30) as database:
                await check_schema(database, f"weft_{role}")
                return
        except (Unavailable, SchemaMissing, SchemaTooOld) as error:
            if time.monotonic() > end:
                raise
            print(f"wait: {error.message}", flush=True)
        await asyncio.sleep(2)


try:
    _make_home(Path(sys.argv[2]))
    asyncio.run(_wait(sys.argv[1]))
except WeftError as error:
    print(f"wait: {error.message}\n{error.detail}\n{error.hint}", file=sys.stderr)
    sys.exit(error.exit_code)
print(f"wait: the database is ready for {sys.argv[1]}")
