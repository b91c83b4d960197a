"""Connections to one database for the worlds in it, and the audit of what their tests left."""

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import asyncpg

from kept_sessions import kept_session
from weft.sql import SqlFile, files_of
from weft.store import (
    ApiStore,
    DriverStore,
    PostgresWorkerStore,
    open_api_store,
    open_driver_store,
)
from weft.store.database import Database, open_database, prepare_connection
from weft.store.notices import PostgresNotices

OF_TIME = [file for file in files_of("audit") if "clock_timestamp()" in file.text]
"""Audits that find something minutes after a test: nobody keeps the dates that it left."""
OF_STATE = [file for file in files_of("audit") if file not in OF_TIME]


class Backend:
    """Connections to one database, shared by the worlds in it: functions are compiled once."""

    def __init__(self, dsns: Mapping[str, str], stack: AsyncExitStack) -> None:
        self.dsns = dsns
        self._stack = stack
        self.admin: asyncpg.Connection
        self.api: ApiStore
        self.driver: DriverStore
        self.workers: Database
        self._epoch = 0
        self._planned_jobs = 0
        self.tests_of_batches: defaultdict[int | None, list[str]] = defaultdict(list)
        """Which tests made a batch that is audited later; None: what is of no batch."""

    async def open(self) -> None:
        """Connect as each of the roles."""
        enter = self._stack.enter_async_context
        self.admin = await enter(kept_session(self.dsns["admin"]))
        self.api = await enter(open_api_store(self.dsns["weft_api"], pool_size=8))
        self.driver = await enter(open_driver_store(self.dsns["weft_driver"]))
        self.workers = await enter(
            open_database(self.dsns["weft_worker"], connections_max=8, timeout_s=30)
        )

    def worker_store(self) -> PostgresWorkerStore:
        """Return a store for one worker; what it remembers is its own."""
        return PostgresWorkerStore(self.workers, PostgresNotices(self.dsns["weft_worker"]))

    async def lead(self) -> int:
        """Return the epoch of a driver that leads."""
        return self._epoch or await self.begin_term()

    async def begin_term(self) -> int:
        """Let the driver lead with a new term; return its epoch."""
        self._epoch = 0
        while not self._epoch:
            self._epoch = await self.driver.try_lead() or 0
        return self._epoch

    async def _forget_small_plans(self) -> None:
        """Let audits be planned anew when tables have grown: by plans for empty ones, which join
        row by row, some took seconds.
        """
        n_jobs = await self.admin.fetchval("SELECT count(*) FROM weft.job")
        if n_jobs > 4 * self._planned_jobs + 100:
            await self.admin.execute("DISCARD PLANS")
            self._planned_jobs = n_jobs

    async def findings(
        self, batches: Collection[int | None], audits: Sequence[SqlFile]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return by check what audits find in these batches, or in no batch."""
        found = {}
        await self._forget_small_plans()
        for file in audits:
            rows = [dict(row) for row in await self.admin.fetch(file.text)]
            wrong = [row for row in rows if row.get("batch_id") in {None, *batches}]
            if wrong:
                found[file.name] = wrong
        return found

    async def audit(self) -> None:
        """Audit all that was left to be audited; name the tests whose batches are wrong."""
        found = await self.findings(self.tests_of_batches, OF_STATE)
        numbers = {row.get("batch_id") for rows in found.values() for row in rows} - {None}
        tests = sorted(
            {test for number in numbers or {None} for test in self.tests_of_batches[number]}
        )
        shown = {check: rows[:5] for check, rows in found.items()}
        assert not found, f"{shown}, by one of {tests}; pytest --audit=each tells which"


async def connect(dsn: str) -> asyncpg.Connection:
    """Return a connection."""
    connection = await asyncpg.connect(dsn)
    await prepare_connection(connection)
    return connection


@asynccontextmanager
async def open_backend(dsns: Mapping[str, str]) -> AsyncIterator[Backend]:
    """Open connections to a database; what worlds left to be audited is audited at the end."""
    async with AsyncExitStack() as stack:
        backend = Backend(dsns, stack)
        await backend.open()
        yield backend
        if backend.tests_of_batches:
            await backend.audit()
