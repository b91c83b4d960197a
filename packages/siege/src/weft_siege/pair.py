"""A PostgreSQL and its standby, which each commit waits for. When the primary is killed for good,
the standby takes over, by the steps of docs/operations/high-availability.md.
"""

import asyncio
import shutil
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import asyncpg

from weft.store.embedded.account import server_account
from weft.store.embedded.leftovers import server_pids
from weft.store.embedded.server import (
    SUPERUSER,
    EmbeddedServer,
    EmbeddedServerFailed,
    new_password,
    run_program,
)
from weft.store.errors import AWAY
from weft_siege.processes import send

OPTIONS = ("wal_retrieve_retry_interval=500ms", "wal_keep_size=2GB", "max_connections=300")
"""A standby that was left alone asks again that often, and finds what it lacks: until it has that,
each commit waits. Twenty workers have four connections each, and who waited for a commit in vain
asks again with another one.
"""
HAS_ALL = "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'"
ASK_S = 2.0
PROMOTE_S = 30.0
STEP_S = 0.2
_AWAY = (asyncpg.PostgresError, *AWAY)
"""What a server that ends meanwhile may answer, asyncpg's own errors among it."""


class Pair:
    """Two servers; the address leads to the one in charge, which `weft up` knows as its own."""

    def __init__(self, home: Path) -> None:
        self._address = home / "pg"
        self._password = new_password()
        self._primary, self._standby = (
            EmbeddedServer(data, data) for data in (home / "pg-a", home / "pg-b")
        )
        self._is_alone, self._is_awaited = True, False
        self.failovers = 0
        self._changing = asyncio.Lock()
        self.dsn = EmbeddedServer(self._address, self._address).dsn(SUPERUSER, self._password)

    def pids(self, target: str = "") -> Sequence[int]:
        """Return the processes of the standby, or of both."""
        servers = (self._standby,) if target else (self._primary, self._standby)
        return [pid for server in servers for pid in server_pids(server.data_dir)]

    async def start(self) -> None:
        """Make and start both."""
        self._primary.initialise(self._password, durable=False)
        self._address.symlink_to(self._primary.data_dir)
        await self._start(self._primary)
        await self._follow()
        await self._await()

    async def keep(self) -> None:
        """Start again what has ended, as a host's manager of services does; who leads alone gets
        another standby.
        """
        while True:
            async with self._changing:
                with suppress(EmbeddedServerFailed, *_AWAY):
                    if self._primary.pid is None:
                        await self._start(self._primary)
                    if self._is_alone:
                        await self._follow()
                    elif self._standby.pid is None:
                        await self._start(self._standby)
                    elif not self._is_awaited:
                        await self._await()
            await asyncio.sleep(STEP_S)

    async def fail_over(self) -> bool:
        """Kill the primary for good and promote the standby, unless that lacks a commit now."""
        if self._changing.locked() or self._is_alone:
            return False
        async with self._changing:
            if not await self._has_all():
                return False
            send(signal.SIGKILL, server_pids(self._primary.data_dir))
            # It was copied before anything waited for a standby, and waits for none.
            await self._ask(self._standby, "SELECT pg_promote()", within_s=PROMOTE_S)
            self._primary, self._standby = self._standby, self._primary
            moved = self._address.with_name("pg-moved")
            moved.symlink_to(self._primary.data_dir)
            moved.rename(self._address)
            self._is_alone = True
        self.failovers += 1
        return True

    def stop(self) -> None:
        """Stop both, as they are."""
        self._standby.stop(fast=False)
        self._primary.stop(fast=False)

    async def _has_all(self) -> bool:
        with suppress(*_AWAY):
            return bool(await self._ask(self._primary, HAS_ALL))
        return False

    async def _follow(self) -> None:
        """Make the standby from a copy of the primary, for which no commit waits yet."""
        data = self._standby.data_dir
        shutil.rmtree(data, ignore_errors=True)
        data.mkdir(mode=0o700)
        account = server_account(self._primary.data_dir)
        account.give(data)
        await asyncio.to_thread(
            run_program,
            "could not copy the primary",
            "Look at its log.",
            "pg_basebackup",
            f"--pgdata={data}",
            f"--host={self._primary.socket_dir}",
            f"--username={SUPERUSER}",
            "--no-password",
            "--checkpoint=fast",
            "--no-sync",
            "--write-recovery-conf",
            cwd=data,
            account=account,
            PGPASSWORD=self._password,
        )
        await self._start(self._standby)
        self._is_alone = self._is_awaited = False

    async def _await(self) -> None:
        """Let commits wait for the standby."""
        await self._ask(self._primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        await self._ask(self._primary, "SELECT pg_reload_conf()")
        self._is_awaited = True

    async def _start(self, server: EmbeddedServer) -> None:
        log = server.data_dir.with_suffix(".siege.log")  # not in what is copied
        server.spawn(log=log, options=OPTIONS)
        await asyncio.to_thread(server.wait_ready)

    async def _ask(
        self, server: EmbeddedServer, statement: str, *, within_s: float = ASK_S
    ) -> Sequence[asyncpg.Record]:
        dsn = server.dsn(SUPERUSER, self._password)
        connection = await asyncpg.connect(dsn, timeout=within_s, command_timeout=within_s)
        try:
            return list(await connection.fetch(statement))
        finally:
            connection.terminate()
