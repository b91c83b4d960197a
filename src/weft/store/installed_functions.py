"""The functions of the schema: made, replaced when their file changed, and dropped at the end.

A function that has not changed is left alone, and one that has is replaced in place, so calls of
older programs continue to work. The comment of a function holds the checksum of its file.
"""

from collections.abc import Sequence

import asyncpg

from weft.sql import SqlFile, files_of, replaceable_checksum, rights_of, text_of

_GRANTEES = "PUBLIC, weft_api, weft_driver, weft_worker"


async def functions_current(connection: asyncpg.Connection) -> bool:
    """Say whether the functions and views are those of this program."""
    stored = await connection.fetchval(text_of("catalog", "schema_checksum"))
    return bool(stored == replaceable_checksum())


async def install_functions(connection: asyncpg.Connection) -> None:
    """Make or replace each function that changed, with its rights, in one transaction.

    No caller sees only some of them. Functions that this program lacks stay for older ones.
    """
    async with connection.transaction():
        # Bodies name functions that come later in the alphabet.
        await connection.execute("SET LOCAL check_function_bodies = off")
        await connection.execute("SET LOCAL client_min_messages = warning")
        for file in files_of("owner"):
            await connection.execute(file.text)
        await connection.execute("GRANT CREATE ON SCHEMA weft TO weft_tenant, weft_system")
        installed = await _installed(connection)
        changed = await changed_functions(connection)
        new = [file for file in changed if file.name not in installed]
        if new:
            await connection.execute(";\n".join(map(_script, new)))  # in one round trip
        for file in changed:
            if file.name in installed:
                await _install(connection, file, installed[file.name])
        for file in files_of("views"):
            await connection.execute(file.text)
        await connection.execute("REVOKE CREATE ON SCHEMA weft FROM weft_tenant, weft_system")
        await connection.execute(f"COMMENT ON SCHEMA weft IS '{replaceable_checksum()}'")


async def changed_functions(connection: asyncpg.Connection) -> list[SqlFile]:
    """Return the functions that the database lacks, or has otherwise than this program."""
    installed = await _installed(connection)
    return [
        file
        for file in files_of("functions")
        if [row["checksum"] for row in installed.get(file.name, ())] != [file.checksum]
    ]


async def obsolete_functions(connection: asyncpg.Connection) -> list[str]:
    """Return the signatures of functions that this program does not have."""
    kept = {file.name for file in files_of("functions")}
    return [
        row["signature"]
        for name, rows in (await _installed(connection)).items()
        if name not in kept
        for row in rows
    ]


async def drop_functions(connection: asyncpg.Connection, signatures: Sequence[str]) -> None:
    """Drop functions on which nothing depends, all or none."""
    if signatures:
        await connection.execute(f"DROP FUNCTION {', '.join(signatures)}")


async def _installed(connection: asyncpg.Connection) -> dict[str, list[asyncpg.Record]]:
    found: dict[str, list[asyncpg.Record]] = {}
    for row in await connection.fetch(text_of("catalog", "installed_functions")):
        found.setdefault(row["name"], []).append(row)
    return found


async def _install(
    connection: asyncpg.Connection, file: SqlFile, installed: Sequence[asyncpg.Record]
) -> None:
    """Make or replace a function and leave no other one of its name.

    A signature may change in place only where no older program calls the function, which a test
    checks; two functions of one name would be ambiguous.
    """
    try:
        async with connection.transaction():
            await connection.execute(_script(file))
    except (asyncpg.InvalidFunctionDefinitionError, asyncpg.AmbiguousFunctionError):
        await drop_functions(connection, [row["signature"] for row in installed])
        await connection.execute(_script(file))


def _script(file: SqlFile) -> str:
    """Return what makes a function with its rights: it fails if there are two of its name."""
    rights, name = rights_of(file), f"weft.{file.name}"
    return "\n".join(
        [
            f"{file.text.rstrip().removesuffix(';')};",
            f"ALTER FUNCTION {name} OWNER TO {rights.owner};",
            f"REVOKE ALL ON FUNCTION {name} FROM {_GRANTEES};",
            *(f"GRANT EXECUTE ON FUNCTION {name} TO {role};" for role in rights.granted_to),
            f"COMMENT ON FUNCTION {name} IS '{file.checksum}'",
        ]
    )
