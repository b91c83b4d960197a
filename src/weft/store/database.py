"""The one way to call a function of the database.

Timed, counted, retried where that is safe, errors translated.
"""

import asyncio
import itertools
import os
import random
import re
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import cache, partial
from time import perf_counter
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import asyncpg
import msgspec

from weft import __version__
from weft.core.database_name import with_host
from weft.core.errors import ServerReplaced, Unavailable, WeftError
from weft.ports.store import ACTION, Action, Caller
from weft.sql import program_schema, text_of
from weft.store.connections import REST_S, DatabaseOutage, Kept, RestTimer, index_for
from weft.store.errors import AWAY, RETRIED, translated
from weft.store.turns import Turns, User, user_of
from weft.telemetry.log import log
from weft.telemetry.metrics import observe_call

TRIES_MAX = 5
CONNECT_TIMEOUT_S = 5.0
NAME_CHARS = 63
SEEN_MAX = 100
"""Connections, living and ended, of which it is known for whom they work."""
KEPT_CALLS = 10_000
"""Each time it has made this many, a connection goes back to the pool, which replaces old ones."""
_SERVERS: dict[int, object] = {}
"""When the server of a session began, by its process."""
_FORM = re.compile(r"_v\d+$")
_CALLER = (
    "tenant_id => CASE WHEN set_config('weft.user', ${}, true) || "
    "set_config('weft.needs', ${}, true) IS NOT NULL THEN ${}::int END"
)
"""Arguments are computed before the function begins, so that it finds the settings: to tell who
calls costs no statement of its own. They end with the transaction.
"""
_JSONB_VERSION = b"\x01"
Result = TypeVar("Result")


@cache
def call_text(function: str, parameters: tuple[str, ...]) -> str:
    """Return the call of a function by parameter names; of `caller` three values are sent.

    Order never matters, and no text comes from a user.
    """
    number = itertools.count(1)
    arguments = ", ".join(
        _CALLER.format(next(number), next(number), next(number))
        if name == "caller"
        else f"{name} => ${next(number)}"
        for name in parameters
    )
    return f"SELECT * FROM weft.{function}({arguments})"  # noqa: S608 (names of our own)


def call_values(arguments: Mapping[str, Any]) -> list[Any]:
    """Return the values of a call in the order of `call_text`.

    A caller is their tenant, the user to whose batches the call is limited (none: to the tenant's)
    and the permission that it needs on a batch.
    """
    values: list[Any] = []
    for value in arguments.values():
        if isinstance(value, Caller):
            user = "" if value.sees_tenant else str(value.user_id)
            values += user, str(int(value.needs)), value.tenant_id
        else:
            values.append(value() if callable(value) else value)
    return values


@cache
def recorded_call_text(function: str, parameters: tuple[str, ...]) -> str:
    """Return the call of a function, and after it that of `record_request`, as one statement. The
    second SELECT adds no row: its condition is evaluated once, when all rows are found.
    """
    n_values = len(parameters) + 2 * parameters.count("caller")
    return (
        f"WITH found AS MATERIALIZED ({call_text(function, parameters)}) "  # noqa: S608 (as above)
        "SELECT * FROM found UNION ALL SELECT * FROM found WHERE (SELECT weft.record_request("
        f"request => ${n_values + 1}, n_rows => (SELECT count(*) FROM found)))"
    )


@cache
def call_name(function: str) -> str:
    """Return the name of a function for logs and metrics: the same in all its forms."""
    return _FORM.sub("", function)


class Database:
    """A pool of connections of one login role."""

    def __init__(self, pool: asyncpg.Pool, outage: DatabaseOutage, turns: Turns) -> None:
        self._pool = pool
        self._turns = turns
        self._kept: list[Kept] = []
        self._seen: dict[int, Kept] = {}
        self._rest_timer = RestTimer(self._kept, self._forget)
        self._keeps = True
        self._n_waiting = 0
        self.outage = outage
        self.server: object = None
        """When the server began that was called last."""
        self.registered_at: dict[int | None, object] = {}
        """The same of the one with which a worker's incarnation has agreed on what it has."""

    async def call(
        self,
        function: str,
        **arguments: Any,  # noqa: ANN401 (what asyncpg can encode)
    ) -> list[asyncpg.Record]:
        """Call a function in a transaction of its own and return its rows.

        An argument that is a function is asked for its value when all is ready to send it.
        Deadlocks and the like are tried again; raises `WeftError`, `Unavailable` if the database
        is away. What the call changes on behalf of an `ACTION` is added to the trail with it.
        """
        action, user = ACTION.get(), user_of(arguments.get("caller"))
        if action is not None:
            send_recorded = _call_once if action.origin.key else _call_recorded
            work = partial(send_recorded, action, function, arguments)
            return await self._retried(work, user)

        async def send(connection: asyncpg.Connection) -> list[asyncpg.Record]:
            self.server = _SERVERS.get(connection.get_server_pid())
            before = self.registered_at.get(arguments.get("incarnation_id"))
            if before and self.server and before != self.server:
                raise ServerReplaced
            return await call_on(connection, function, **arguments)

        return await self._retried(send, user)

    async def value(self, function: str, **arguments: Any) -> Any:  # noqa: ANN401
        """Call a function that returns one value."""
        rows = await self.call(function, **arguments)
        return rows[0][0] if rows else None

    async def reading(
        self, work: Callable[[asyncpg.Connection], Awaitable[Result]], caller: Caller | None = None
    ) -> Result:
        """Do several calls that only read, of one and the same moment; errors as in `call`."""

        async def run(connection: asyncpg.Connection) -> Result:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                return await work(connection)

        return await self._retried(run, user_of(caller))

    async def trying(
        self, work: Callable[[asyncpg.Connection], Awaitable[Result]], caller: Caller
    ) -> Result:
        """Do several calls, and undo what they did; errors as in `call`."""

        async def run(connection: asyncpg.Connection) -> Result:
            transaction = connection.transaction()
            await transaction.start()
            try:
                return await work(connection)
            finally:
                await transaction.rollback()

        return await self._retried(run, user_of(caller))

    async def is_lent(self) -> bool:
        """Return whether a pooler lends each connection for a transaction: of two that ask in turn
        one meets the other in a session of the server, or gets another session.
        """
        return await self._retried(lambda first: self._retried(partial(_meet, first), None), None)

    async def _retried(
        self, work: Callable[[asyncpg.Connection], Awaitable[Result]], user: User | None
    ) -> Result:
        for tries in itertools.count(1):
            try:
                async with self._turns.of(user):
                    result = await self._with_connection(work, user)
            except RETRIED as error:
                if tries == TRIES_MAX:
                    raise translated(error) from error
                await asyncio.sleep(random.uniform(0, 0.01 * tries))  # noqa: S311 (jitter)
            except (asyncpg.PostgresError, *AWAY) as error:
                raise self.failure(error) from error
            else:
                if not self.outage.is_over:
                    self.outage.end()
                return result
        raise AssertionError

    async def _with_connection(
        self, work: Callable[[asyncpg.Connection], Awaitable[Result]], user: User | None
    ) -> Result:
        """Do the work on a connection, and keep that for the next call: to give it back to the
        pool and to take it again takes tasks and turns of the loop, as long as a small call.
        """
        kept, task = self._take_kept(user) or await self._acquire(), asyncio.current_task()
        assert task is not None
        is_done, n_cancelled = False, task.cancelling()
        try:
            result = await work(kept.connection)
            is_done = True
        except Exception as error:
            if task.cancelling() > n_cancelled:  # what it undid on the way out has failed
                raise asyncio.CancelledError from error
            raise
        finally:
            kept.n_calls += 1
            is_old = kept.n_calls % KEPT_CALLS == 0
            if is_done and self._keeps and not self._n_waiting and not is_old:
                kept.note(user)
                self._rest_timer.begin(kept)
            else:
                # It is closed if that fails; nobody is told, as that would hide a cancellation.
                with suppress(Exception):
                    await self._pool.release(kept.connection)
        return result

    async def _acquire(self) -> Kept:
        self._n_waiting += 1
        try:
            connection = await self._pool.acquire(timeout=CONNECT_TIMEOUT_S)
        finally:
            self._n_waiting -= 1
        if len(self._seen) >= SEEN_MAX:
            self._seen.clear()
        # It may have been kept before, and gone to the pool because somebody waited.
        kept = self._seen.setdefault(connection.get_server_pid(), Kept(connection))
        kept.connection = connection
        return kept

    def _take_kept(self, user: User | None) -> Kept | None:
        while self._kept:
            kept = self._kept.pop(index_for(user, self._kept))
            # One that has ended went back to the pool by itself.
            with suppress(asyncpg.InterfaceError):
                if not kept.connection.is_closed():
                    return kept
        return None

    def _forget(self, closed: Kept) -> None:
        """Forget for whom it worked: another session may get its number."""
        self._seen = {pid: one for pid, one in self._seen.items() if one is not closed}

    async def give_back(self) -> None:
        """Give all connections back to the pool: now, or when their calls end."""
        self._keeps = False
        self._rest_timer.end()
        kept, self._kept[:] = [one.connection for one in self._kept], []
        # Each by itself: closing the pool waits for all of them.
        await asyncio.gather(*map(self._pool.release, kept), return_exceptions=True)

    def failure(self, error: Exception) -> WeftError:
        """Return weft's error for what asyncpg raised; an outage is logged."""
        result = translated(error)
        if isinstance(result, Unavailable):
            self.outage.begin(result)
        return result


class StorePart:
    """Some of a store's calls to its database."""

    _database: Database


async def call_on(
    connection: asyncpg.Connection,
    function: str,
    **arguments: Any,  # noqa: ANN401 (what asyncpg can encode)
) -> list[asyncpg.Record]:
    """Call a function on a connection that the caller holds. Raises what asyncpg raises."""
    text = call_text(function, tuple(arguments))
    return await fetch_on(connection, call_name(function), text, call_values(arguments))


async def _call_recorded(
    action: Action, function: str, arguments: Mapping[str, Any], connection: asyncpg.Connection
) -> list[asyncpg.Record]:
    """Call a function, and add the action to the trail if it has changed anything."""
    text = recorded_call_text(function, tuple(arguments))
    values = [*call_values(arguments), action.row()]
    return await fetch_on(connection, call_name(function), text, values)


async def _call_once(
    action: Action, function: str, arguments: Mapping[str, Any], connection: asyncpg.Connection
) -> list[Any]:
    """Call a function, or return the first value of what it changed for an action of this key."""
    asked = {
        "caller": action.caller,
        "user_id": action.caller.user_id,
        "digest": action.origin.digest,
        "repeat_key": f"{action.origin.key} {function}",
    }
    async with connection.transaction():
        if kept := await call_on(connection, "first_answer", **asked, answer=None):
            return [kept[0][0]]
        rows = await _call_recorded(action, function, arguments, connection)
        if await connection.fetchval("SELECT pg_current_xact_id_if_assigned() IS NOT NULL"):
            await call_on(connection, "first_answer", **asked, answer=[rows[0][0]])
        return rows


async def _meet(first: asyncpg.Connection, second: asyncpg.Connection) -> bool:
    turns = (first, second) * 4
    pids = [(await session.fetch("SELECT pg_backend_pid()"))[0][0] for session in turns]
    return pids[0] in pids[1::2] or len({*pids[::2]}) > 1


async def fetch_on(
    connection: asyncpg.Connection,
    name: str,
    text: str,
    values: Sequence[Any],  # what asyncpg can encode
    *,
    within_s: float | None = None,
) -> list[asyncpg.Record]:
    """Run a statement, timed and counted by a name. Raises what asyncpg raises. `within_s`:
    another limit of time than that of the connection.
    """
    started = perf_counter()
    failed = True
    try:
        rows: list[asyncpg.Record] = await connection.fetch(text, *values, timeout=within_s)
        failed = False
        return rows
    finally:
        seconds = perf_counter() - started
        observe_call(name, seconds, failed)
        log.debug("store.called", function=name, ms=round(seconds * 1000, 3), failed=failed)


def session_name(purpose: str = "") -> str:
    """Return the application_name: it shows people, `weft system` and `weft db contract` who is
    connected. PostgreSQL keeps 63 letters of it, all of them ASCII.
    """
    made_for = f"weft{purpose and ' '}{purpose} (schema {program_schema()})"
    name = f"{made_for} {__version__} {os.getpid()}@{socket.gethostname()}"
    return name.encode("ascii", "replace").decode()[:NAME_CHARS]


async def prepare_connection(connection: asyncpg.Connection) -> None:
    """Note when the server began; read and write jsonb as Python values, in the binary format: the
    only one that asyncpg takes within composite types.
    """
    await connection.set_type_codec(
        "jsonb", schema="pg_catalog", encoder=_to_jsonb, decoder=_from_jsonb, format="binary"
    )
    ((began,),) = await connection.fetch(text_of("catalog", "server_began"))
    _SERVERS[connection.get_server_pid()] = began


def _to_jsonb(value: Any) -> bytes:  # noqa: ANN401
    return _JSONB_VERSION + msgspec.json.encode(value)


def _from_jsonb(value: bytes) -> Any:  # noqa: ANN401
    return msgspec.json.decode(value[1:])


async def _keep(connection: asyncpg.Connection) -> None:
    """Leave a connection as it is between two uses.

    Each is one transaction of functions, which leaves nothing behind; asyncpg would send four
    statements after every call.
    """


class _Lent(asyncpg.Connection):  # type: ignore[misc]  # asyncpg has no types
    """A connection to a pooler of transactions. asyncpg sends two messages for a statement; both
    must go to the same server connection.
    """

    async def fetch(self, *args: Any, **options: Any) -> list[asyncpg.Record]:  # noqa: ANN401
        """Do it in a transaction."""
        async with nullcontext() if self.is_in_transaction() else self.transaction():
            rows: list[asyncpg.Record] = await super().fetch(*args, **options)
        return rows

    async def set_type_codec(self, *args: Any, **options: Any) -> None:  # noqa: ANN401
        """Do it in a transaction."""
        async with self.transaction():
            await super().set_type_codec(*args, **options)


def without_variables(dsn: str) -> dict[str, Any]:
    """Return what asyncpg is given beside a DSN that says all, as that of the embedded server, for
    it to read no variable of PostgreSQL at all: what a DSN for an older libpq cannot say.

    Another DSN is completed by these variables, as everywhere.
    """
    says_all = dict(parse_qsl(urlsplit(dsn).query)).get("sslmode") == "disable"
    return {"direct_tls": False, "gsslib": "gssapi"} if says_all else {}


@asynccontextmanager
async def open_database(
    dsn: str,
    *,
    connections_max: int,
    timeout_s: float,
    user_connections_max: int | None = None,
    pooler: str | None = None,
) -> AsyncIterator[Database]:
    """Open a pool; it connects when it is first needed, and again after the server was away.
    `user_connections_max`: how many of its connections work for one user at a time; `pooler`:
    `host:port` of what lends connections to the server for a transaction each.
    """
    kind, outage = {}, DatabaseOutage(dsn)
    if pooler:
        dsn = with_host(dsn, pooler)
        kind = {"connection_class": _Lent, "statement_cache_size": 0}
        outage = DatabaseOutage(dsn, "pooler")
    pool = asyncpg.create_pool(
        dsn,
        **kind,
        **without_variables(dsn),
        min_size=0,
        max_size=connections_max,
        init=prepare_connection,
        reset=_keep,
        command_timeout=timeout_s,
        timeout=CONNECT_TIMEOUT_S,
        max_inactive_connection_lifetime=REST_S,
        server_settings={"application_name": session_name(), "timezone": "UTC"},
    )
    async with pool:
        database = Database(pool, outage, Turns(user_connections_max, connections_max))
        try:
            yield database
        finally:
            await database.give_back()


def columns(rows: Sequence[Any], *names: str) -> list[list[Any]]:
    """Turn objects into one list per attribute, as the set functions take them."""
    return [[getattr(row, name) for row in rows] for name in names]
