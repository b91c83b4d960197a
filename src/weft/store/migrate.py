"""Bring a database to the schema of this program, and say how the two compare."""

from dataclasses import dataclass

import asyncpg

from weft.core.errors import Conflict, WeftError
from weft.sql import SqlFile, files_of, replaceable_checksum, rights_of

OLDEST_SERVER = 150000
_LOCK_KEY = 7700  # advisory (7700, 0): one migration run at a time; one number alone is a batch


class SchemaTooNew(Conflict):
    """The database was migrated by a newer weft."""

    code = "STORE.SCHEMA_TOO_NEW"


class ServerTooOld(Conflict):
    """The PostgreSQL server is older than weft can use."""

    code = "STORE.SERVER_TOO_OLD"


class MigrationChanged(Conflict):
    """A migration that was applied is not the one that this program holds."""

    code = "STORE.MIGRATION_CHANGED"


@dataclass(frozen=True)
class MigrationStatus:
    """How a database compares with this program."""

    version: str | None
    """The newest applied migration; None: an empty database."""
    program_version: str
    pending: tuple[str, ...]
    functions_current: bool
    server_version: str
    problem: str | None
    """Why this program cannot use the database; None: it can, after `pending`."""


async def migration_status(connection: asyncpg.Connection) -> MigrationStatus:
    """Return how the database compares with this program."""
    await _check_server(connection)
    applied = await _applied(connection)
    names = [file.name for file in files_of("migrations")]
    return MigrationStatus(
        version=max(applied, default=None),
        program_version=names[-1],
        pending=tuple(name for name in names if name not in applied),
        functions_current=bool(applied)
        and await _stored_checksum(connection) == replaceable_checksum(),
        server_version=connection.get_settings().server_version,
        problem=_problem_of(applied),
    )


def _problem_of(applied: dict[str, str]) -> str | None:
    try:
        _check_applied(applied)
    except WeftError as error:
        return f"{error.message}. {error.hint}"
    return None


async def migrate(connection: asyncpg.Connection) -> list[str]:
    """Apply what is missing, each migration in a transaction of its own.

    Return the names of what was done.

    Safe to repeat and to run twice at once: a lock lets one run at a time.
    Raises `SchemaTooNew`, `MigrationChanged` or `ServerTooOld`; then nothing was changed.
    """
    await _check_server(connection)
    await connection.execute("SELECT pg_advisory_lock($1, 0)", _LOCK_KEY)
    try:
        applied = await _applied(connection)
        _check_applied(applied)
        done = [
            await _apply(connection, file)
            for file in files_of("migrations")
            if file.name not in applied
        ]
        if done or await _stored_checksum(connection) != replaceable_checksum():
            await _replace_functions(connection)
            done.append("functions and views")
        return done
    finally:
        await connection.execute("SELECT pg_advisory_unlock($1, 0)", _LOCK_KEY)


async def _check_server(connection: asyncpg.Connection) -> None:
    number = int(await connection.fetchval("SHOW server_version_num"))
    if number < OLDEST_SERVER:
        raise ServerTooOld(
            f"PostgreSQL {number // 10000} is too old",
            detail=f"weft needs PostgreSQL {OLDEST_SERVER // 10000} or newer.",
            hint="Upgrade the server, or leave out --database to use the embedded one.",
        )


async def _applied(connection: asyncpg.Connection) -> dict[str, str]:
    """Return checksum by name of the migrations that the database has."""
    if await connection.fetchval("SELECT to_regclass('weft.migration')") is None:
        return {}
    return {
        row["name"]: row["checksum"]
        for row in await connection.fetch("SELECT name, checksum FROM weft.migration")
    }


def _check_applied(applied: dict[str, str]) -> None:
    known = {file.name: file.checksum for file in files_of("migrations")}
    unknown = sorted(applied.keys() - known.keys())
    if unknown:
        raise SchemaTooNew(
            "the database was made by a newer weft",
            detail=f"It has the migration {unknown[-1]}, this program ends with {max(known)}.",
            hint="Install the newer weft again; an older program cannot run on a newer schema.",
        )
    for name, checksum in applied.items():
        if known[name] != checksum:
            raise MigrationChanged(
                f"migration {name} is not the one that was applied",
                detail=f"Its checksum is {known[name]}, the database has {checksum}.",
                hint="Install the weft that made this database, or start with a new home.",
            )


async def _stored_checksum(connection: asyncpg.Connection) -> str | None:
    stored: str | None = await connection.fetchval(
        "SELECT obj_description('weft'::regnamespace, 'pg_namespace')"
    )
    return stored


async def _apply(connection: asyncpg.Connection, file: SqlFile) -> str:
    async with connection.transaction():
        await connection.execute("CREATE SCHEMA IF NOT EXISTS weft")
        await connection.execute(
            "CREATE TABLE IF NOT EXISTS weft.migration "
            "(name text PRIMARY KEY, checksum text NOT NULL, "
            "applied_at timestamptz NOT NULL DEFAULT clock_timestamp())"
        )
        await connection.execute(file.text)
        await connection.execute(
            "INSERT INTO weft.migration (name, checksum) VALUES ($1, $2)", file.name, file.checksum
        )
    return file.name


async def _replace_functions(connection: asyncpg.Connection) -> None:
    """Replace all functions and views, with their rights, in one transaction.

    No caller sees half of them.
    """
    async with connection.transaction():
        # Bodies name functions that come later in the alphabet.
        await connection.execute("SET LOCAL check_function_bodies = off")
        for file in files_of("owner"):
            await connection.execute(file.text)
        await connection.execute("GRANT CREATE ON SCHEMA weft TO weft_tenant, weft_system")
        await connection.execute("SET LOCAL client_min_messages = warning")
        for name in await _old_functions(connection):
            await connection.execute(f"DROP FUNCTION {name} CASCADE")
        for file in files_of("functions"):
            await connection.execute(file.text)
            rights = rights_of(file)
            await connection.execute(f"ALTER FUNCTION weft.{file.name} OWNER TO {rights.owner}")
            await connection.execute(f"REVOKE ALL ON FUNCTION weft.{file.name} FROM PUBLIC")
            for role in rights.granted_to:
                await connection.execute(f"GRANT EXECUTE ON FUNCTION weft.{file.name} TO {role}")
        for file in files_of("views"):
            await connection.execute(file.text)
        await connection.execute("REVOKE CREATE ON SCHEMA weft FROM weft_tenant, weft_system")
        await connection.execute(f"COMMENT ON SCHEMA weft IS '{replaceable_checksum()}'")


async def _old_functions(connection: asyncpg.Connection) -> list[str]:
    """Return the functions of the schema with their argument types.

    The trigger's function stays, tables depend on it.
    """
    rows = await connection.fetch(
        "SELECT p.oid::regprocedure::text AS name FROM pg_proc p "
        "WHERE p.pronamespace = 'weft'::regnamespace AND p.proname <> '_refuse_transition'"
    )
    return [row["name"] for row in rows]
