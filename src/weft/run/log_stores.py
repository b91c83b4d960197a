"""Which log store a role reads, writes or clears, and where a home keeps its output."""

import asyncio
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Protocol

from weft.core.database_name import database_name
from weft.core.errors import Conflict, Unavailable
from weft.ports.log_store import LOG_STORE_PLUGINS, LogStoreParts, LogStoreSite
from weft.ports.patience import until_answered
from weft.run.home import Home


@cache
def log_store_at(name: str, root: Path) -> LogStoreParts:
    """Return the parts of this log store for a directory. Raise `PluginNotInstalled`."""
    return LOG_STORE_PLUGINS.load(name)(LogStoreSite(root=root))


# Batches of two databases have the same numbers. A worker starts while its database is away, too,
# so the home remembers which database was at an address.


class DatabaseReplaced(Conflict, code="WORKER.DATABASE_REPLACED"):
    """Another database now answers at the address of this worker's database."""


class Identified(Protocol):
    """A store that says which database it is."""

    async def database_id(self) -> str:
        """Return the id; raise `Unavailable` if the database does not answer."""


async def find_log_directory(home: Home, store: Identified, dsn: str) -> Path:
    """Return the directory for the output of this database's jobs.

    If the database is away it is that of the last one at this address; without one, wait.
    """
    name = database_name(dsn)
    known = home.database_id(name)
    with suppress(Unavailable):
        found = await store.database_id()
        if found != known:
            home.keep_database_id(name, found)
        return home.logs / found
    if known is None:
        known = await until_answered(store.database_id)
        home.keep_database_id(name, known)
    return home.logs / known


async def until_replaced(store: Identified, logs: Path) -> None:
    """Return never; raise `DatabaseReplaced` if the database has logs in another directory."""
    if await until_answered(store.database_id) != logs.name:
        raise DatabaseReplaced(
            "another database answers at this address",
            detail=f"{logs} belongs to the one that was there before.",
            hint="The worker uses the new one when it is started again.",
        )
    await asyncio.Event().wait()
