"""Whether a program and the schema of its database fit: checked at the start of every role.

A schema is numbered by its newest `pre` migration, and a program by the newest one that it holds.
The schema must be at least the program's, and the program at least the oldest that the schema
still serves; the contract step raises that number.
"""

import asyncpg

from weft.core.errors import Conflict, Internal
from weft.sql import program_schema
from weft.store.database import Database


class SchemaTooOld(Conflict):
    """The database was not migrated to a schema that this program can use."""

    code = "STORE.SCHEMA_TOO_OLD"


class ProgramTooOld(Conflict):
    """The schema no longer has functions that this program calls."""

    code = "STORE.PROGRAM_TOO_OLD"


async def check_schema(database: Database) -> None:
    """Return if this program may use the database.

    Raises `SchemaTooOld`, `ProgramTooOld`; `Unavailable` if the database does not answer.
    """
    try:
        (row,) = await database.call("schema_range")
    except Internal as error:
        if isinstance(
            error.__cause__, asyncpg.UndefinedFunctionError | asyncpg.InvalidSchemaNameError
        ):
            raise _too_old("It has no range of programs yet") from error
        raise
    if row["schema"] < program_schema():
        raise _too_old(f"It has schema {row['schema']}")
    if row["oldest_program"] > program_schema():
        raise ProgramTooOld(
            "this weft is too old for the database",
            detail=f"It was made for schema {program_schema()}, the database serves programs "
            f"made for {row['oldest_program']} or later.",
            hint="Install the weft that the other programs of this database run.",
        )


def _too_old(found: str) -> SchemaTooOld:
    return SchemaTooOld(
        "the database's schema is too old for this weft",
        detail=f"{found}, this program needs {program_schema()}.",
        hint="Run `weft db migrate`, or start `weft up` on it, which does the same.",
    )
