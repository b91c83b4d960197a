"""Messages as statements in a database: one for each, in a transaction of its own.

No row comes back. What else a server says, such as the text of an error, is read whole, within
what a connection may bring.
"""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, Final

from asyncpg.connection import Connection

from weft.core.bounded import read_json
from weft.core.errors import SecretKeyMissing
from weft.ports.line_kinds import SinkKind, wrong_host
from weft.ports.senders import Answered
from weft.ports.sink import SinkMessage, SinkReader, SinkSite, Target
from weft.ports.source import SourceFailed, SourceSite
from weft.wire.sealed import folded, opened
from weft_lines.rules import sql
from weft_lines.sources.http import good_address
from weft_lines.sources.sql import connected, prepare, reason, renew, transaction

_TIMEOUT_S: Final = 30.0
_RESET_S: Final = 5.0
_IDLE_S: Final = 20.0
_ROWS_MAX: Final = 2**31 - 1
"""What MOVE can be told."""
_IDLE_MAX: Final = 4
"""Connections to one database that wait for a message."""


def _target(reader: SinkReader) -> Target:
    """Read the statement that is run for each message; any name may be one of its fields."""
    statement = reader.checked("statement", _wrong_statement, None)
    return Target(
        str(reader.checked("url", sql.wrong_database_url)), {"statement": str(statement)}
    )


def _wrong_statement(given: object) -> str:
    return sql.wrong_statement(given, bool, "a name is a field of the message")


KIND: Final = SinkKind(
    ("url", "statement"),
    _target,
    ("url",),
    codes="22-23",
    reach=lambda site, sink: wrong_host(sql.database_host(sink.url), site),
)
"""Classes of SQLSTATE reject: values that do not fit, and constraints."""


class SqlSink:
    """Keeps connections for some seconds, by address, as messages come in bursts."""

    def __init__(self, site: SinkSite) -> None:
        self._keys = site.keys
        self._site = SourceSite(
            allowed=site.callbacks, setting="callback_private_hosts", timeout_s=_TIMEOUT_S
        )
        self._idle: dict[sql.DatabaseAddress, list[tuple[float, Connection]]] = {}

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Run the statement; what is committed is kept there."""
        values: Mapping[str, str] = {}
        statement = sql.parse_statement(message.target["statement"])
        given = read_json(message.body)
        fields = given if isinstance(given, Mapping) else {}
        fields = {**fields, sql.DELIVERY: message.name, sql.MESSAGE: given}
        if missing := [name for name in statement.names if name not in fields]:
            return Answered(error=f"the message has no {missing[0]}")
        try:
            options, values = opened({"url": sink["url"]}, sink["sealed"], self._keys())
            at = sql.parse_database_url(options["url"])
        except (SecretKeyMissing, ValueError) as error:
            return Answered(error=str(error))
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                connection = await self._connection(at)
                async with transaction(connection):
                    await _run(connection, statement, fields)
        except SourceFailed as error:
            return Answered(error=str(error))
        except Exception as error:  # noqa: BLE001 (as of a source)
            said = folded(reason(error, statement.text, "statement"), values)
            return Answered(error=f"{at.shown}: {said}", status=_class_of(error), delivered=False)
        await self._keep(at, connection)
        return Answered(delivered=True)

    async def close(self) -> None:
        for waiting in self._idle.values():
            for _, connection in waiting:
                connection.terminate()
        self._idle.clear()

    async def _connection(self, at: sql.DatabaseAddress) -> Connection:
        self._end_old()
        if waiting := self._idle.get(at):
            connection = waiting.pop()[1]
            renew(connection)
            return connection
        return await connected(at, await good_address(at.host, at.port, self._site))

    async def _keep(self, at: sql.DatabaseAddress, connection: Connection) -> None:
        """Keep a connection as if it were new; of what a statement has set, the next one, which
        may be another sink's, sees nothing.
        """
        if len(self._idle.get(at, ())) >= _IDLE_MAX:
            connection.terminate()
            return
        try:
            async with asyncio.timeout(_RESET_S):
                await connection.execute("DISCARD ALL")
        except Exception:  # noqa: BLE001 (the message is there all the same)
            connection.terminate()
        except asyncio.CancelledError:
            connection.terminate()
            raise
        else:
            self._idle.setdefault(at, []).append((time.monotonic(), connection))

    def _end_old(self) -> None:
        """End connections that nobody has needed for a time, or that the server has closed."""
        now = time.monotonic()
        for at, waiting in [*self._idle.items()]:
            kept = []
            for since, connection in waiting:
                if now - since > _IDLE_S or connection.is_closed():
                    connection.terminate()
                else:
                    kept.append((since, connection))
            self._idle[at] = kept
            if not kept:
                del self._idle[at]


async def _run(
    connection: Connection, statement: sql.Statement, fields: Mapping[str, object]
) -> None:
    """Run a statement to its end. Rows that it returns stay there: they may be large."""
    prepared, given = await prepare(connection, statement, fields, _TIMEOUT_S)
    rows = await prepared.cursor(*given)
    if prepared.get_attributes() or await rows.fetch(1):
        await rows.forward(_ROWS_MAX)


def _class_of(error: BaseException) -> int | None:
    """Return the class of an SQLSTATE that is a number, such as 23."""
    found = str(getattr(error, "sqlstate", ""))[:2]
    return int(found) if found.isdecimal() else None
