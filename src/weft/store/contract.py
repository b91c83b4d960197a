"""The contract step: remove everything that only older programs use. Run later, by command.

`post` migrations and functions that this program does not have wait until every older program is
gone; a migration run leaves them in place.
"""

from dataclasses import dataclass
from datetime import datetime

import asyncpg

from weft import __version__
from weft.core.errors import Conflict
from weft.sql import program_schema, text_of
from weft.store.installed_functions import drop_functions, obsolete_functions

_SHOWN = 10


class OlderProgramsConnected(Conflict, code="STORE.OLDER_PROGRAMS_CONNECTED"):
    """Programs of an earlier release still use the database."""


@dataclass(frozen=True)
class ProgramSession:
    """One connection of a program of an earlier release."""

    pid: int
    """The process of the server, as in pg_stat_activity."""
    login: str
    client: str | None
    """The address it came from; None: a socket of the server's host, or hidden."""
    connected_at: datetime | None
    program: int | None
    """The schema that it was made for; None: the program is too old to report it."""

    def __str__(self) -> str:
        """Describe the session in one line."""
        made_for = "an earlier release" if self.program is None else f"schema {self.program}"
        return (
            f"{self.login} from {self.client or 'this host'}, pid {self.pid}, made for {made_for}"
        )


@dataclass(frozen=True)
class OtherWorker:
    """A worker of another release that is linked through an api."""

    name: str
    host: str
    version: str

    def __str__(self) -> str:
        """Describe the worker in one line."""
        return f"worker {self.name} on {self.host}, linked, release {self.version}"


async def other_workers(connection: asyncpg.Connection) -> tuple[OtherWorker, ...]:
    """Return the linked workers of other releases. The schema is that of this program."""
    rows = await connection.fetch(text_of("catalog", "linked_workers"), __version__)
    return tuple(OtherWorker(**row) for row in rows)


async def older_sessions(connection: asyncpg.Connection) -> tuple[ProgramSession, ...]:
    """Return the connections of programs that are older than this one."""
    rows = await connection.fetch(text_of("catalog", "program_sessions"), program_schema())
    return tuple(ProgramSession(**row) for row in rows)


async def refuse_older_programs(connection: asyncpg.Connection) -> None:
    """Raise `OlderProgramsConnected` if there are any."""
    found = (*await older_sessions(connection), *await other_workers(connection))
    if found:
        raise OlderProgramsConnected(
            f"{len(found)} connections or linked workers are of older programs",
            detail="; ".join(str(one) for one in found[:_SHOWN]) + ".",
            hint="Replace these programs first; `weft db status` lists them. "
            "`weft db contract --force` continues, and their calls will fail.",
        )


async def stop_serving_older_programs(connection: asyncpg.Connection) -> None:
    """Refuse older programs from now on."""
    await connection.execute(text_of("catalog", "refuse_older_programs"), program_schema())


async def drop_obsolete_functions(connection: asyncpg.Connection) -> list[str]:
    """Drop the functions that this program does not have; return their signatures."""
    async with connection.transaction():
        signatures = await obsolete_functions(connection)
        await drop_functions(connection, signatures)
    return signatures
