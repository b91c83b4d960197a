"""HTTP/1.1 over streams, of asyncio or blocking: connections that are kept, requests with a whole
body, replies that may stream.

h11 knows the protocol; this file moves the bytes. httpx and aiohttp were measured beside it:
importing either takes 290 ms, this 50 ms, and a command of the shell starts a process each time.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from typing import Any, Self

import h11

from weft.client.http.address import Endpoint
from weft.client.http.blocking import NeedsLoop, asyncio, interrupt, ssl

READ_BYTES = 64 * 1024
READ_LIMIT = 1 << 20
IDLE_CONNECTIONS_MAX = 8
CONNECT_TIMEOUT_S = 10.0
REPLY_TIMEOUT_S = 60.0
PLAIN_S = 1.0
"""A server that takes longer to take a connection is left to the event loop."""

_SILENT = MappingProxyType(
    {
        "http": "it closed the connection without an answer, as it does if it speaks TLS (https://)",
        "https": "it closed the connection without an answer",
    }
)

_PROXIES = frozenset({"https_proxy", "all_proxy"})

Headers = Sequence[tuple[str, str]]
Event = h11.Request | h11.Data | h11.EndOfMessage


class CouldNotConnect(Exception):
    """The request was not sent: nobody listens there."""


class NotTrusted(CouldNotConnect):
    """The request was not sent: the server's certificate is not one that is trusted."""


class ConnectionLost(Exception):
    """The connection broke before the reply was whole; the server may have done what was asked."""


async def until_silent(
    chunks: AsyncIterator[bytes], silence_max_s: float
) -> AsyncGenerator[bytes, None]:
    """Yield chunks. Raise `TimeoutError` if none comes for so long."""
    while True:
        try:
            async with asyncio.timeout(silence_max_s):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        yield chunk


@dataclass
class _Connection:
    reader: "asyncio.StreamReader | _Blocking"
    writer: "asyncio.StreamWriter | _Blocking"
    protocol: h11.Connection
    is_silent: bool = True
    """Nothing has come yet."""

    async def next_event(self) -> object:
        """Return h11's next event, reading as needed."""
        while True:
            try:
                event = self.protocol.next_event()
                if event is not h11.NEED_DATA:
                    return event
                data = await self.reader.read(READ_BYTES)
                self.is_silent = self.is_silent and not data
                self.protocol.receive_data(data)
            except (OSError, EOFError, h11.RemoteProtocolError) as error:
                raise ConnectionLost(str(error) or type(error).__name__) from error

    async def next_head(self) -> h11.Response:
        """Return the head of the reply."""
        event = await self.next_event()
        while isinstance(event, h11.InformationalResponse):
            event = await self.next_event()
        if not isinstance(event, h11.Response):
            raise ConnectionLost("the server closed the connection")
        return event

    async def send(self, *events: Event) -> None:
        """Write these events."""
        try:
            self.writer.write(b"".join(self.protocol.send(event) or b"" for event in events))
            await self.writer.drain()
        except OSError as error:
            raise ConnectionLost(str(error)) from error


class Reply:
    """A reply whose body has not been read yet. Read it whole, or leave `async with` to give up
    the connection.
    """

    def __init__(
        self,
        pool: "ConnectionPool",
        connection: _Connection,
        head: h11.Response,
        *,
        is_again: bool,
    ) -> None:
        self.status = head.status_code
        self.headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in head.headers
        }
        self.is_again = is_again
        """Whether the request may have been received before, on another connection."""
        self._pool = pool
        self._connection: _Connection | None = connection

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes. At its end the connection is kept for the next request."""
        connection = self._connection
        while connection is not None:
            event = await connection.next_event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                self._connection = None
                self._pool.keep(connection)
                return
            else:
                raise ConnectionLost("the server closed the connection")

    async def read(self) -> bytes:
        """Return the whole body."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def send(self, data: bytes) -> None:
        """Send more of the body of the request. Raise `ConnectionLost`."""
        try:
            if self._connection is not None:
                await self._connection.send(h11.Data(data=data))
        except h11.LocalProtocolError as error:
            raise ConnectionLost("the reply is over") from error

    def close(self) -> None:
        """Give the connection up if the body was not read to its end."""
        if self._connection is not None:
            self._connection.writer.close()
            self._connection = None


class ConnectionPool:
    """Connections to one server."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._idle: list[_Connection] = []
        self._guard: AsyncGenerator[None, None] | None = None
        self._tls: ssl.SSLContext | None = None

    async def send(
        self,
        method: str,
        target: str,
        headers: Headers,
        body: bytes | None,
        *,
        is_repeatable: bool = True,
        goes_on: bool = False,
    ) -> Reply:
        """Send one request and return the head of the reply. `is_repeatable`: twice does no more
        than once; `goes_on`: `Reply.send` sends the rest of the body.

        Raises `CouldNotConnect` (nothing was sent) or `ConnectionLost` (it may have been
        received).
        """
        events: list[Event] = [self._request(method, target, headers, body, goes_on=goes_on)]
        if body:
            events.append(h11.Data(data=body))
        if not goes_on:
            events.append(h11.EndOfMessage())
        is_again = False
        while not goes_on and (kept := self._take_idle()) is not None:
            try:
                return await self._exchange(kept, events, is_again=is_again)
            except ConnectionLost:
                # The server closed it while it was idle: the usual end of a kept connection, no
                # reason to fail.
                if not is_repeatable:
                    raise
                is_again = True
        return await self._exchange(await self._connect(), events, is_again=is_again)

    def keep(self, connection: _Connection) -> None:
        """Take back a connection whose reply was read."""
        try:
            connection.protocol.start_next_cycle()
        except h11.LocalProtocolError:
            connection.writer.close()
            return
        if len(self._idle) < IDLE_CONNECTIONS_MAX:
            self._idle.append(connection)
        else:
            connection.writer.close()

    def close(self) -> None:
        """Close what is idle, without a word: the loop may end before TLS has said its own."""
        for connection in self._idle:
            connection.writer.transport.abort()
        self._idle.clear()

    def _take_idle(self) -> _Connection | None:
        while self._idle:
            connection = self._idle.pop()
            if not connection.reader.at_eof() and not connection.writer.is_closing():
                return connection
            connection.writer.close()
        return None

    async def _close_at_end(self) -> AsyncGenerator[None, None]:
        """Close what is idle when the loop ends: the loop closes generators that are left."""
        try:
            yield
        finally:
            self._guard = None
            self.close()

    async def _connect(self) -> _Connection:
        if (waiting := interrupt.get()) is not None:
            stream = _Blocking(self.endpoint, waiting)
            return _Connection(stream, stream, h11.Connection(h11.CLIENT))
        from weft.client.http.trust import tls_context  # noqa: PLC0415 (it imports ssl)

        if self._guard is None:
            self._guard = self._close_at_end()
            await anext(self._guard)
        endpoint = self.endpoint
        if endpoint.is_gone():  # before a token is sent
            raise CouldNotConnect("no server is running in this home")
        if self._tls is None or endpoint.cert_file is not None:  # which may have been renewed
            self._tls = tls_context(endpoint)
        reader, writer = await _opened(endpoint, self._tls)
        return _Connection(reader, writer, h11.Connection(h11.CLIENT))

    def _request(
        self, method: str, target: str, headers: Headers, body: bytes | None, *, goes_on: bool
    ) -> h11.Request:
        endpoint = self.endpoint
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        length = [("content-length", str(len(body)))] if body is not None else []
        length = [("transfer-encoding", "chunked")] if goes_on else length
        return h11.Request(
            method=method,
            target=endpoint.path + target,
            headers=[("host", f"{host}:{endpoint.port}"), *length, *headers],
        )

    async def _exchange(
        self, connection: _Connection, events: Sequence[Event], *, is_again: bool
    ) -> Reply:
        try:
            await connection.send(*events)
            head = await connection.next_head()
        except BaseException as error:
            connection.writer.close()
            if isinstance(error, ConnectionLost) and connection.is_silent:
                raise ConnectionLost(_SILENT[self.endpoint.scheme]) from error
            raise
        return Reply(self, connection, head, is_again=is_again)


class _Blocking:
    """Both streams of a connection without an event loop. Whatever is not plain, such as TLS or a
    server that is not there, is left to one.
    """

    def __init__(self, endpoint: Endpoint, waiting: AbstractContextManager[None]) -> None:
        import socket  # noqa: PLC0415 (with a loop it is there)

        if endpoint.scheme != "http" or endpoint.is_gone():
            raise NeedsLoop
        try:
            host = endpoint.host.encode("ascii")  # a text would import how names are written
            address: tuple[Any, int] = (host, endpoint.port)
            with waiting:
                self._socket = socket.create_connection(address, PLAIN_S)
        except (OSError, UnicodeEncodeError) as error:
            raise NeedsLoop from error
        self.transport, self.abort = self, self._socket.close
        self.close, self._waiting, self._ends_at = self._socket.close, waiting, 0.0

    def write(self, data: bytes) -> None:
        """Send a request, whose whole reply has to be there in time."""
        self._ends_at = monotonic() + REPLY_TIMEOUT_S
        self._socket.settimeout(REPLY_TIMEOUT_S)
        with self._waiting:
            self._socket.sendall(data)

    async def read(self, n: int) -> bytes:
        try:
            self._socket.settimeout(max(0.001, self._ends_at - monotonic()))
            with self._waiting:
                return self._socket.recv(n)
        except TimeoutError:
            raise ConnectionLost("no answer in time") from None

    async def drain(self) -> None:
        """Do nothing: all is sent."""

    def at_eof(self) -> bool:
        return interrupt.get() is None  # nothing in a loop may block

    def is_closing(self) -> bool:
        return False


async def shown_certificate(endpoint: Endpoint, tls: "ssl.SSLContext") -> bytes:
    """Return the certificate that a server shows, in DER. Raise `CouldNotConnect`."""
    _, writer = await _opened(endpoint, tls)
    shown: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    writer.transport.abort()
    with suppress(OSError):
        await writer.wait_closed()
    return shown


async def _opened(
    endpoint: Endpoint, tls: "ssl.SSLContext | None"
) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            return await _open(endpoint, tls)
    except TimeoutError:
        raise CouldNotConnect(f"no answer within {CONNECT_TIMEOUT_S:.0f} s") from None
    except ssl.SSLCertVerificationError as error:
        raise NotTrusted(error.verify_message.rstrip(".")) from error
    except OSError as error:
        raise CouldNotConnect(_reason(error)) from error


async def _open(
    endpoint: Endpoint, tls: "ssl.SSLContext | None"
) -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    if tls is not None and any(name.lower() in _PROXIES for name in os.environ):
        # Loaded when it is needed: that takes 30 ms.
        from weft.client.http.proxy import find_proxy, open_through  # noqa: PLC0415

        proxy = find_proxy(endpoint)
        if proxy is not None:
            return await open_through(proxy, endpoint, tls, limit=READ_LIMIT)
    return await asyncio.open_connection(endpoint.host, endpoint.port, ssl=tls, limit=READ_LIMIT)


def _reason(error: OSError) -> str:
    if isinstance(error, ssl.SSLError) and error.reason == "WRONG_VERSION_NUMBER":
        return "it does not speak TLS: its address begins with http://"
    return error.strerror or str(error)
