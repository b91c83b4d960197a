"""Bring a database to the schema of this program, and say how the two compare.

An empty database gets the whole schema at once, an older one the migrations that it lacks.
Expand: `pre` migrations and functions, which older programs survive. Contract, by command and
later: `post` migrations, and the functions that only older programs call.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import asyncpg

from weft.core.errors import Conflict, WeftError
from weft.faults import fault_point
from weft.sql import SqlFile, files_of, is_post, number_of, program_schema, text_of, whole_schema
from weft.store.contract import (
    OtherWorker,
    ProgramSession,
    drop_obsolete_functions,
    older_sessions,
    other_workers,
    refuse_older_programs,
    stop_serving_older_programs,
)
from weft.store.errors import MIGRATE_HINT, SchemaMissing, SchemaTooOld
from weft.store.installed_functions import functions_current, install_functions, obsolete_functions
from weft.store.single_connections import LONG_CALL_S

_after_step = fault_point("migrate.after_step")

OLDEST_SERVER = 150000
DEADLOCKS_MAX = 10
FUNCTIONS = "functions and views"
_LOCK_KEY = 7700  # advisory (7700, 0): one migration run at a time; one number alone is a batch


class SchemaTooNew(Conflict, code="STORE.SCHEMA_TOO_NEW"):
    """The database was migrated by a newer weft."""


class ServerTooOld(Conflict, code="STORE.SERVER_TOO_OLD"):
    """The PostgreSQL server is older than weft can use."""


class MigrationChanged(Conflict, code="STORE.MIGRATION_CHANGED"):
    """An applied migration differs from the one in this program."""


class SchemaUnreleased(Conflict, code="STORE.SCHEMA_UNRELEASED"):
    """The database was made by a weft that was never released, and no migration leads from it."""


class SchemaNotExpanded(Conflict, code="STORE.SCHEMA_NOT_EXPANDED"):
    """The contract step was asked for before the expand step."""


@dataclass(frozen=True)
class MigrationStatus:
    """How a database compares with this program."""

    version: str | None
    """The newest migration whose effect it has; None: an empty database."""
    program_version: str
    pending: tuple[str, ...]
    """The migrations that `migrate` would apply, besides the functions."""
    to_contract: tuple[str, ...]
    """The steps and drops that `contract` would do."""
    older_programs: tuple[ProgramSession | OtherWorker, ...]
    """The sessions and linked workers that keep `contract` from running."""
    functions_current: bool
    server_version: str
    is_pooled: bool
    """Whether the connection is one of a pooler."""
    problem: str | None
    """Why this program cannot use the database; None: it can, after `pending`."""


async def migration_status(connection: asyncpg.Connection) -> MigrationStatus:
    """Return how the database compares with this program."""
    await _check_server(connection)
    applied = await _applied(connection)
    problem = _problem_of(applied)
    missing = missing_migrations(applied) if applied else ()
    obsolete = await obsolete_functions(connection) if applied and not problem else []
    pending = (file.name for file in missing if not is_post(file))
    is_current = bool(applied) and await functions_current(connection)
    return MigrationStatus(
        version=max(applied, default=None),
        program_version=whole_schema().name,
        pending=tuple(pending) if applied else (whole_schema().name,),
        to_contract=(*(file.name for file in missing if is_post(file)), *obsolete),
        older_programs=(
            *await older_sessions(connection),
            *(await other_workers(connection) if is_current else ()),
        ),
        functions_current=is_current,
        server_version=connection.get_settings().server_version,
        is_pooled=connection.get_server_pid()
        != await connection.fetchval("SELECT pg_backend_pid()"),
        problem=problem,
    )


async def require_schema(connection: asyncpg.Connection) -> None:
    """Return if the schema is the one of this program.

    Raises `SchemaMissing`, `SchemaTooOld` with the migration that is missing, `SchemaTooNew`,
    `SchemaUnreleased`, `MigrationChanged` or `ServerTooOld`.
    """
    await _check_server(connection)
    applied = await _applied(connection)
    if not applied:
        raise SchemaMissing(
            "the database has no schema of weft",
            detail="It has no table weft.migration.",
            hint=MIGRATE_HINT,
        )
    _check_applied(applied)
    missing = [file.name for file in missing_migrations(applied) if not is_post(file)]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise SchemaTooOld(
            "the database's schema is too old for this weft",
            detail=f"It lacks the migration {missing[0]}{more}.",
            hint=MIGRATE_HINT,
        )
    if not await functions_current(connection):
        raise SchemaTooOld(
            "the database's functions are not those of this weft",
            detail="All migrations were applied, by another version.",
            hint=MIGRATE_HINT,
        )


def _problem_of(applied: dict[str, str]) -> str | None:
    try:
        _check_applied(applied)
    except WeftError as error:
        return f"{error.message}. {error.hint}"
    return None


async def migrate(connection: asyncpg.Connection) -> list[str]:
    """Make the schema in an empty database, or apply the missing `pre` migrations to an older one.

    Return the names of what was done, each in a transaction of its own. `post` migrations are left
    to `contract`.

    Safe to repeat and to run twice at once: a lock lets one run at a time. Raises `SchemaTooNew`,
    `SchemaUnreleased`, `MigrationChanged` or `ServerTooOld`; then nothing was changed.
    """
    async with _one_at_a_time(connection):
        applied = await checked_migrations(connection)
        if applied:
            missing = [file for file in missing_migrations(applied) if not is_post(file)]
            done = [await _apply(connection, file) for file in missing]
        else:
            done = [await _make_schema(connection)]
        if done or not await functions_current(connection):
            await install_functions(connection)
            _after_step()
            done.append(FUNCTIONS)
        await connection.execute(text_of("catalog", "say_schema"), program_schema())
        return done


async def contract(connection: asyncpg.Connection, *, force: bool = False) -> list[str]:
    """Remove everything that only older programs use; return the names of the steps.

    Safe to repeat. Raises `SchemaNotExpanded`, and `OlderProgramsConnected` unless forced; then
    nothing was changed.
    """
    async with _one_at_a_time(connection):
        applied = await checked_migrations(connection)
        missing = missing_migrations(applied)
        expanded = all(is_post(file) for file in missing)
        if not (applied and expanded and await functions_current(connection)):
            raise SchemaNotExpanded(
                "the schema is not that of this program yet",
                detail="`weft db contract` finishes a migration; this one has not begun.",
                hint="Run `weft db migrate` first, and replace the running programs.",
            )
        if not force:
            await refuse_older_programs(connection)
        await stop_serving_older_programs(connection)
        return [
            *[await _apply(connection, file) for file in missing],
            *await drop_obsolete_functions(connection),
        ]


@asynccontextmanager
async def _one_at_a_time(connection: asyncpg.Connection) -> AsyncIterator[None]:
    await _check_server(connection)
    await connection.execute("SELECT pg_advisory_lock($1, 0)", _LOCK_KEY, timeout=LONG_CALL_S)
    try:
        yield
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
    """Return checksum by name of the schema with which the database began, and of migrations."""
    if await connection.fetchval("SELECT to_regclass('weft.migration')") is None:
        return {}
    return {
        row["name"]: row["checksum"]
        for row in await connection.fetch("SELECT name, checksum FROM weft.migration")
    }


async def checked_migrations(connection: asyncpg.Connection) -> dict[str, str]:
    """Return checksum by name of what was applied; empty: to an empty database. Raises as
    `migrate`.
    """
    await _check_server(connection)
    applied = await _applied(connection)
    _check_applied(applied)
    return applied


def missing_migrations(applied: Mapping[str, str]) -> list[SqlFile]:
    """Return those that were not applied, in their order."""
    return [file for file in files_of("migrations") if file.name not in applied]


def _check_applied(applied: Mapping[str, str]) -> None:
    if not applied:
        return
    _check_beginning(applied)
    known = {file.name: file.checksum for file in files_of("migrations")}
    newest = number_of(whole_schema().name)
    unknown = [name for name in applied if name not in known and number_of(name) > newest]
    if unknown:
        raise SchemaTooNew(
            "the database was made by a newer weft",
            detail=f"It has {max(unknown)}, this program ends with {whole_schema().name}.",
            hint="Install the newer weft again; an older program cannot run on a newer schema.",
        )
    for name in known.keys() & applied.keys():
        if known[name] != applied[name]:
            raise MigrationChanged(
                f"migration {name} is not the one that was applied",
                detail=f"Its checksum is {known[name]}, the database has {applied[name]}.",
                hint="Install the weft that made this database, or start with a new home.",
            )


def _check_beginning(applied: Mapping[str, str]) -> None:
    """Raise `SchemaUnreleased` unless the database began with a schema that was released."""
    present = whole_schema()
    began = next((name for name in applied if name.endswith("_schema")), None)
    if began is None:
        fact = f"It ends with {max(applied)}, which no release of weft has."
    elif began == present.name and applied[began] != present.checksum:
        fact = f"It began with another {began} than the one of this program."
    else:
        return
    raise SchemaUnreleased(
        "the database was made by a weft that was never released",
        detail=f"{fact} No migration leads from there to the schema of this program.",
        hint="Name an empty database, or start with a new home.",
    )


async def _make_schema(connection: asyncpg.Connection) -> str:
    """Make all tables in one transaction, as if all migrations had been applied."""
    schema = whole_schema()
    async with connection.transaction():
        await connection.execute("CREATE SCHEMA IF NOT EXISTS weft")
        await connection.execute(schema.text, timeout=LONG_CALL_S)
        for file in (schema, *files_of("migrations")):
            await _note(connection, file)
    _after_step()
    return schema.name


async def _apply(connection: asyncpg.Connection, file: SqlFile) -> str:
    """Apply a migration; return its name.

    Do it again if it was the victim of a deadlock: programs of the release before are at work,
    and their statements lock what it changes in orders of their own.
    """
    for _ in range(DEADLOCKS_MAX):
        with suppress(asyncpg.DeadlockDetectedError):
            return await _apply_once(connection, file)
    return await _apply_once(connection, file)


async def _apply_once(connection: asyncpg.Connection, file: SqlFile) -> str:
    async with connection.transaction():
        await connection.execute(file.text, timeout=LONG_CALL_S)
        await _note(connection, file)
    _after_step()
    return file.name


async def _note(connection: asyncpg.Connection, file: SqlFile) -> None:
    await connection.execute(
        "INSERT INTO weft.migration (name, checksum) VALUES ($1, $2)", file.name, file.checksum
    )
