"""The source `sql`: each row of a query is an item.

With a cursor the rows come in its order, and a reading begins after the last one that was kept;
rows of the same value are read together, so none is left out. Rows come as JSON, which
the server makes of them. It runs one statement, in a transaction that only reads.
"""

import asyncio
import json
import socket
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from decimal import Context, Decimal
from typing import Any, Final

import asyncpg
from asyncpg import connect_utils, protocol
from asyncpg.connection import Connection
from asyncpg.prepared_stmt import PreparedStatement

from weft.core.bounded import PAGE_DEPTH_MAX, read_json
from weft.ports.line_kinds import TEXT, Option, SourceKind, wrong_host
from weft.ports.source import Reading, SourceFailed, SourceSite, item_of
from weft_lines.rules import sql
from weft_lines.sources.http import (
    check_overlap,
    good_address,
    newest_of,
    since_of,
    wrong_cursor,
)

_TIMES: Final = ("statement_timeout", "idle_in_transaction_session_timeout", "lock_timeout")
_MARGIN_S: Final = 5.0
ANSWER_BYTES_MAX = 64 << 20
"""That a server sends on a connection, each time it is used: more than any reading has."""
_DATE, _NUMBER, _OTHER = "date", "number", "other"
_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("date", "timestamp without time zone", "timestamp with time zone"), _DATE),
    **dict.fromkeys(
        ("smallint", "integer", "bigint", "numeric", "real", "double precision"), _NUMBER
    ),
}
"""What columns of a cursor are. Values of all but dates are kept as the server writes them."""
_DIGITS: Final = 20
"""More than an overlap has."""
ROW: Final = "to_jsonb(q)::text"
_SAID_CHARS_MAX: Final = 250
_TOLD: Final = (asyncpg.PostgresError, asyncpg.InterfaceError)
"""What a server, or its driver, says of a statement and its values."""
Options = Mapping[str, Any]


def _is_column(given: object) -> str:
    if isinstance(given, Mapping) and "parameter" in given:
        return "the query names it as :cursor"
    return wrong_cursor(given)


KIND: Final = SourceKind(
    {
        "url": Option(sql.wrong_database_url, needed=True, secret=True),
        "query": Option(lambda _: "", needed=True),
        "values": Option(sql.wrong_values),
        "dedupe": TEXT,
        "cursor": Option(_is_column),
    },
    together=lambda options: {"query": sql.wrong_query(options)},
    reach=lambda site, options: wrong_host(sql.database_host(options["url"]), site),
)


class SqlSource:
    """Asks once for each reading, on a connection of its own."""

    def read(
        self, options: Options, cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read once."""
        state = {**(cursor or {})}
        at, spec = state.get("at"), options.get("cursor")
        since = at if at is not None else _since(options, state)
        query = sql.parse_statement(str(options["query"]))
        more, shown, names = "", ROW, query.names
        if spec is not None:
            column = '"{}"'.format(str(spec["field"]).replace('"', '""'))
            if since is None:
                more += f" WHERE q.{column} IS NOT NULL"
            else:
                names = names if sql.CURSOR in names else (*names, sql.CURSOR)
                more += f" WHERE q.{column} > ${names.index(sql.CURSOR) + 1}"
            shown += f", pg_typeof(q.{column})::text, q.{column}::text"
            more += f" ORDER BY q.{column} FETCH FIRST {site.items_max} ROWS WITH TIES"
        else:
            more += f" LIMIT {site.items_max + 1}"
        values = {**options.get("values", {}), sql.CURSOR: since}
        statement = sql.Statement(as_json(query, more, shown), names)
        rows = asyncio.run(asked(options, statement, values, site))
        if spec is None:
            if len(rows) > site.items_max:
                raise SourceFailed(f"it has more than {site.items_max} rows: name a `cursor`")
            return Reading([item_of(document, options) for document in _documents(rows)], None)
        return self._page(rows, options, state, site)

    def _page(
        self, rows: Sequence[Any], options: Options, state: Mapping[str, Any], site: SourceSite
    ) -> Reading:
        if not rows:
            return Reading([], {**state, "at": None})
        found = _documents(rows)
        spec, type_ = options["cursor"], rows[0][1]
        kind = _kind(spec, type_)
        values = [
            one[spec["field"]] if kind == _DATE else row[2]
            for one, row in zip(found, rows, strict=True)
        ]
        known = [state["newest"]] if state.get("type") == type_ else []
        more = len(rows) >= site.items_max
        told = {
            "newest": _newest(kind, [*known, *values]),
            "type": type_,
            "at": values[-1] if more else None,
        }
        return Reading([item_of(one, options) for one in found], told, more=more)


def _documents(rows: Sequence[Any]) -> list[Any]:
    return [read_json(row[0], depth_max=PAGE_DEPTH_MAX) for row in rows]


def _kind(spec: Options, type_: str) -> str:
    """Return what a column of this type is. Raise `SourceFailed` if the overlap is none of it."""
    kind = _KINDS.get(type_, _OTHER)
    if kind != _OTHER:
        check_overlap(spec, is_date=kind == _DATE)
    elif "overlap" in spec:
        said = f"{spec['field']} is of type {type_}, which has none"
        raise SourceFailed(f"cursor: overlap: {said}")
    return kind


def _since(options: Options, state: Mapping[str, Any]) -> object:
    """Return the value after which rows are new."""
    newest, spec = state.get("newest"), options.get("cursor")
    if spec is None or newest is None or _kind(spec, state.get("type", _DATE)) == _DATE:
        return since_of(options, newest)
    if not (overlap := spec.get("overlap")):
        return newest
    exact = Context(prec=len(newest) + _DIGITS)
    return format(exact.subtract(Decimal(newest), Decimal(overlap)), "f")


def _newest(kind: str, values: Sequence[Any]) -> object:
    """Return after which value the next reading begins. Values are in the order of the server."""
    if kind == _DATE:
        return newest_of(values)
    if kind == _OTHER:
        return values[-1]
    return max((one for one in values if Decimal(one).is_finite()), key=Decimal, default=None)


def as_json(query: sql.Statement, more: str, shown: str = ROW) -> str:
    """Return a statement for rows of a query as JSON."""
    return f"SELECT {shown} FROM (\n{query.text}\n) q{more}"  # noqa: S608 (as an operator wrote it)


async def asked(
    options: Options, statement: sql.Statement, values: Mapping[str, object], site: SourceSite
) -> list[Any]:
    """Return rows. Raise `SourceFailed`."""
    at = _address(options)
    within_s = max(site.timeout_s - _MARGIN_S, site.timeout_s / 2)
    try:
        async with asyncio.timeout(within_s):
            connection = await connected(at, await good_address(at.host, at.port, site))
            async with transaction(connection, readonly=True):
                prepared, given = await prepare(connection, statement, values, within_s)
                rows = await prepared.fetch(*given)
            await connection.close()
    except SourceFailed:
        raise
    except Exception as error:  # whatever the driver of a database raises
        said = reason(error, statement.text, "query", skipped=1)
        raise SourceFailed(f"{at.shown}: {said}", is_wrong=is_wrong(error)) from error
    return [*rows]


def _address(options: Options) -> sql.DatabaseAddress:
    try:
        return sql.parse_database_url(str(options["url"]))
    except ValueError as error:
        raise SourceFailed(f"the address: {error}") from error


class _Bounded(protocol.Protocol):  # type: ignore[misc]  # without types
    """Ends a connection whose server sends too much: a message is kept until it is whole."""

    left = 0

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.renew()
        self._own = transport
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        self.left -= len(data)
        if self.left < 0:
            self._own.abort()
        else:
            super().data_received(data)

    def renew(self) -> None:
        """Let the server send as much again."""
        self.left = ANSWER_BYTES_MAX


class _Protocols:
    """What asyncpg connects with: as it is for the database of weft, which is trusted."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (as there)
        is_bounded = name == "Protocol" and _IS_BOUNDED.get()
        return _Bounded if is_bounded else getattr(protocol, name)


_IS_BOUNDED: Final = ContextVar("_IS_BOUNDED", default=False)
connect_utils.protocol = _Protocols()


async def connected(at: sql.DatabaseAddress, host: str) -> Connection:
    """Connect to a checked address of the host. What PostgreSQL's variables and files of this
    account say is not meant. The server may be anybody's.
    """
    before = _IS_BOUNDED.set(True)
    try:
        return await asyncpg.connect(
            host=host,
            port=at.port,
            user=at.user,
            password=at.password,
            database=at.database,
            ssl=_Tls.of(at) if at.tls != "disable" else False,
            target_session_attrs="any",
            statement_cache_size=0,
        )
    finally:
        _IS_BOUNDED.reset(before)


def renew(connection: Connection) -> None:
    """Use a connection once more."""
    connection._protocol.renew()  # noqa: SLF001 (it is ours)


@asynccontextmanager
async def transaction(connection: Connection, *, readonly: bool = False) -> AsyncIterator[None]:
    """Commit at the end. After an error the connection is gone, and with it what was done: a
    ROLLBACK would wait for a server that does not answer, beyond any timeout.
    """
    within = connection.transaction(readonly=readonly)
    try:
        await within.start()
        yield
        await within.commit()
    except BaseException:
        connection.terminate()
        raise


class _Tls(ssl.SSLContext):
    """Checks the certificate for the name of the host, as the connection is to an address."""

    host = ""

    @classmethod
    def of(cls, at: sql.DatabaseAddress) -> "_Tls":
        found = cls(ssl.PROTOCOL_TLS_CLIENT)
        found.host = at.host
        if at.tls == "require":
            found.check_hostname, found.verify_mode = False, ssl.CERT_NONE
        else:
            found.load_default_certs()
        return found

    def wrap_bio(self, *given: Any, **named: Any) -> ssl.SSLObject:  # noqa: ANN401 (as above it)
        return super().wrap_bio(*given, **{**named, "server_hostname": self.host})


async def prepare(
    connection: Connection, statement: sql.Statement, values: Mapping[str, object], within_s: float
) -> tuple[PreparedStatement, list[object]]:
    """Return a statement of the transaction and its values. They are told as texts, and are what
    the server makes of them.
    """
    told = ", ".join(f"set_config('{name}', '{int(within_s * 1000)}', true)" for name in _TIMES)
    await connection.execute(f"SELECT {told}, set_config('TimeZone', 'UTC', true)")
    prepared = await connection.prepare(statement.text)
    types = {parameter for parameter in prepared.get_parameters() if parameter.kind == "scalar"}
    for one in types:
        is_json = one.name in {"json", "jsonb"}
        await connection.set_type_codec(
            one.name,
            schema=one.schema,
            encoder=json.dumps if is_json else _written,
            decoder=str,
            format="text",
        )
    if types:
        prepared = await connection.prepare(statement.text)
    return prepared, [values[name] for name in statement.names]


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def reason(error: BaseException, text: str, field: str, *, skipped: int = 0) -> str:
    """Return why a statement failed. `field` and its line tell where, if the server knows;
    `skipped`: lines before it.
    """
    if isinstance(error, TimeoutError | asyncpg.QueryCanceledError):
        return "it did not answer in time"
    if isinstance(error, socket.gaierror):
        return "its name cannot be resolved"
    if isinstance(error, ssl.SSLError):
        return f"{error.reason or 'TLS failed'}; sslmode says what is checked"
    if isinstance(error, ConnectionError) and "SSL" in str(error):
        return "it has no TLS; with ?sslmode=disable weft goes without"
    if isinstance(error, OSError):
        return error.strerror or "no answer"
    if not isinstance(error, _TOLD):
        return f"its answer cannot be read ({type(error).__name__})"
    said = str(error).split("\n", 1)[0][:_SAID_CHARS_MAX]
    position = getattr(error, "position", None)
    if not position or not str(position).isdecimal():
        return said
    line = text.count("\n", 0, int(position) - 1) + 1 - skipped
    if skipped and not 0 < line <= text.count("\n") - skipped:
        return f"cursor: {said}"  # beside the query
    return f"{field}, line {line}: {said}"


def is_wrong(error: BaseException) -> bool:
    """Say whether a database refuses a question for what it is, and not for now."""
    return isinstance(error, asyncpg.PostgresError) and str(error.sqlstate)[:2] in {
        "0A",
        "21",
        "22",
        "42",
    }
