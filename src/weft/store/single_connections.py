"""Connections outside the pools.

They are those of the leader, of notices and of the owner. Nobody else looks whether one of them is
alive, and one whose bytes are lost on the way, without its end being told, answers nothing for
ever. So each call has a limit of time, and so has the end.
"""

from typing import Any

import asyncpg

from weft.store.database import (
    CONNECT_TIMEOUT_S,
    call_name,
    call_text,
    call_values,
    fetch_on,
    without_variables,
)

CALL_S = 120.0
"""The limit of a call, unless it names another one."""
LONG_CALL_S = 6 * 3600.0
"""The limit of one statement that reads or changes whole tables: a migration, a check of the
audit."""


async def connect_single(
    dsn: str, *, call_s: float | None = None, **server_settings: str
) -> asyncpg.Connection:
    """Return a connection of one's own. A call takes at most `call_s` seconds (None: `CALL_S`),
    then it raises `TimeoutError`.

    Raises what asyncpg raises.
    """
    return await asyncpg.connect(
        dsn,
        **without_variables(dsn),
        timeout=CONNECT_TIMEOUT_S,
        command_timeout=call_s or CALL_S,
        server_settings=server_settings,
    )


async def call_long(
    connection: asyncpg.Connection,
    function: str,
    **arguments: Any,  # noqa: ANN401 (what asyncpg can encode)
) -> list[asyncpg.Record]:
    """Call a function that reads or changes whole tables. Raises what asyncpg raises."""
    text, values = call_text(function, tuple(arguments)), call_values(arguments)
    return await fetch_on(connection, call_name(function), text, values, within_s=LONG_CALL_S)


async def close_single(connection: asyncpg.Connection) -> None:
    """End a connection, in order if the server answers soon; never raises for one that is dead."""
    try:
        await connection.close(timeout=CONNECT_TIMEOUT_S)
    except (OSError, TimeoutError, asyncpg.InterfaceError, asyncpg.PostgresError):
        connection.terminate()
