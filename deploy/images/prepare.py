"""Bring the database to the schema of this release and let the roles and the administrator in: what
`weft up` does before it starts them. Run it before the roles of a new release; safe to repeat.

Environment: WEFT_DATABASE, the DSN of the database's owner; API_PASSWORD, DRIVER_PASSWORD and
WORKER_PASSWORD, which the roles log in with; ADMIN_TOKEN and ADMIN_USER (default: admin).
"""

import asyncio
import os
import sys
import time

from weft.core.errors import Unavailable, WeftError
from weft.run.database import prepare_schema
from weft.run.login import LOGINS, with_login
from weft.store import open_admin

_WAIT_S = 120


async def _wait_for(dsn: str) -> None:
    end = time.monotonic() + _WAIT_S
    while True:
        try:
            async with open_admin(dsn):
                return
        except Unavailable:
            if time.monotonic() > end:
                raise
        await asyncio.sleep(1)


async def _prepare() -> None:
    owner = os.environ["WEFT_DATABASE"]
    passwords = {name: os.environ[f"{name[5:].upper()}_PASSWORD"] for name in LOGINS}
    logins = {name: with_login(owner, name, text) for name, text in passwords.items()}
    await _wait_for(owner)
    user = os.environ.get("ADMIN_USER", "admin")
    await prepare_schema(owner, logins, user, os.environ["ADMIN_TOKEN"])


try:
    asyncio.run(_prepare())
except KeyError as error:
    sys.exit(f"prepare: {error.args[0]} is not in the environment")
except WeftError as error:
    print(f"prepare: {error.message}\n{error.detail}\n{error.hint}", file=sys.stderr)
    sys.exit(error.exit_code)
print("prepare: schema and logins are ready")
