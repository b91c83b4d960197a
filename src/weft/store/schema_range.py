"""Whether a program, its login and the schema of its database fit: checked when a role starts.

A schema is numbered by its newest `pre` migration, and a program by the newest one that it holds.
The schema must be at least the program's, and the program at least the oldest that the schema
still serves; the contract step raises that number.
"""

import asyncio

import asyncpg

from weft.core.errors import Conflict, Forbidden, Internal
from weft.sql import program_schema
from weft.store.database import Database
from weft.store.errors import MIGRATE_HINT, SchemaTooOld

SILENCE_S = 0.3
"""After this time without an answer people are told what the program waits for."""


class ProgramTooOld(Conflict, code="STORE.PROGRAM_TOO_OLD"):
    """The schema no longer has functions that this program calls."""


class WrongLogin(Forbidden, code="STORE.WRONG_LOGIN"):
    """The login belongs to another role."""


async def check_schema(database: Database, login: str) -> None:
    """Return if this program may use the database, logged in as `login` or as a member of it.

    Raises `SchemaTooOld`, `ProgramTooOld`, `WrongLogin`; `Unavailable` if the database does not
    answer.
    """
    timer = asyncio.get_running_loop().call_later(SILENCE_S, database.outage.suspect)
    try:
        (row,) = await database.call("schema_range")
    except Internal as error:
        if isinstance(
            error.__cause__, asyncpg.UndefinedFunctionError | asyncpg.InvalidSchemaNameError
        ):
            raise _too_old("It has no range of programs yet") from error
        raise
    finally:
        timer.cancel()
    if row["schema"] < program_schema():
        raise _too_old(f"It has schema {row['schema']}")
    if row["oldest_program"] > program_schema():
        raise ProgramTooOld(
            "this weft is too old for the database",
            detail=f"It was made for schema {program_schema()}, the database serves programs "
            f"made for {row['oldest_program']} or later.",
            hint="Install the weft that the other programs of this database run.",
        )
    (row,) = await database.call("check_login", login=login)
    if not row["may_act"]:
        raise WrongLogin(
            f"this role needs the login {login}",
            detail=f"The setting `database` logs in as {row['user_name']}, "
            f"which may not act as {login}.",
            hint="`secrets.json` in the home of `weft up` has a DSN for each role.",
        )


def _too_old(found: str) -> SchemaTooOld:
    return SchemaTooOld(
        "the database's schema is too old for this weft",
        detail=f"{found}, this program needs {program_schema()}.",
        hint=MIGRATE_HINT,
    )
