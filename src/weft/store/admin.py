"""What only the owner of the database does: migrate, set passwords, make the local user, audit."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import asyncpg

from weft.sql import files_of
from weft.store.database import CONNECT_TIMEOUT_S, call_on, prepare_connection
from weft.store.errors import AWAY, translated
from weft.store.migrate import MigrationStatus, migrate, migration_status

FINDING_ROWS_MAX = 100


@dataclass(frozen=True)
class AuditFinding:
    """One check of the audit.

    Its name, what it says, and the rows that contradict it (none: all is well).
    """

    check: str
    sentence: str
    rows: tuple[Mapping[str, Any], ...]


class Admin:
    """The owner's connection."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def migrate(self) -> list[str]:
        """Bring the schema up to date.

        Return what was done. Raises `SchemaTooNew`, `ServerTooOld`, `MigrationChanged`.
        """
        return await migrate(self._connection)

    async def status(self) -> MigrationStatus:
        """Say how schema and program compare."""
        return await migration_status(self._connection)

    async def set_login_passwords(self, passwords: Mapping[str, str]) -> None:
        """Set the passwords of the login roles.

        They never stand in a log: a DO block would, a hashed verifier does not matter.
        """
        for role, password in passwords.items():
            quoted = await self._connection.fetchval(
                "SELECT format('ALTER ROLE %I LOGIN PASSWORD %L', $1::text, $2::text)",
                role,
                password,
            )
            async with self._connection.transaction():
                await self._connection.execute("SET LOCAL log_statement = 'none'")
                await self._connection.execute("SET LOCAL log_min_error_statement = 'panic'")
                await self._connection.execute(quoted)

    async def ensure_local_user(self, *, tenant: str, user: str, token: str) -> None:
        """Make the tenant, user, project, queue and token of a home, as far as missing."""
        await call_on(
            self._connection, "ensure_local_user", tenant=tenant, user_name=user,
            token_hash=hashlib.sha256(token.encode()).digest(),
        )  # fmt: skip

    async def audit(self) -> list[AuditFinding]:
        """Recompute everything derived from the base rows, in one snapshot.

        Return each check with its differences.
        """
        async with self._connection.transaction(isolation="repeatable_read", readonly=True):
            return [
                AuditFinding(
                    check=file.name,
                    sentence=file.text.split("\n", 1)[0].removeprefix("-- "),
                    rows=tuple(
                        dict(row)
                        for row in (await self._connection.fetch(file.text))[:FINDING_ROWS_MAX]
                    ),
                )
                for file in files_of("audit")
            ]


@asynccontextmanager
async def open_admin(dsn: str) -> AsyncIterator[Admin]:
    """Connect as the owner of the database. Raises `Unavailable`."""
    try:
        connection = await asyncpg.connect(
            dsn, timeout=CONNECT_TIMEOUT_S, server_settings={"timezone": "UTC"}
        )
        await prepare_connection(connection)
    except (asyncpg.PostgresError, *AWAY) as error:
        raise translated(error) from error
    try:
        yield Admin(connection)
    finally:
        await connection.close(timeout=CONNECT_TIMEOUT_S)
