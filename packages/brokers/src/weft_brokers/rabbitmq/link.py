"""A connection to a RabbitMQ, and the channel for messages out, on aio-pika."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection
from aio_pika.exceptions import AMQPError

from weft.ports.transport import Connection, TransportError

CALL_S: Final = 30.0
_CONNECT_S: Final = 10.0
FAILURES: Final = (AMQPError, OSError, TimeoutError, asyncio.InvalidStateError, RuntimeError)
"""What the library raises when the broker is away, refuses, or goes in the middle of a call."""


class Link:
    """One broker; the connection for messages out is made when it is first needed."""

    def __init__(self, connection: Connection) -> None:
        self._to = connection
        self.connection: AbstractConnection | None = None
        self.channel: AbstractChannel | None = None

    @property
    def is_open(self) -> bool:
        """Say whether messages out have a connection."""
        return (
            self.connection is not None
            and not self.connection.is_closed
            and self.channel is not None
        )

    async def connected(self) -> AbstractConnection:
        """Return a new connection. Raise `FAILURES`."""
        to = self._to
        context = None
        if to.address.startswith("amqps:"):
            cafile = None if to.ca_file is None else str(to.ca_file)
            context = ssl.create_default_context(cafile=cafile)
        host, port = _host_and_port(to.address)
        try:
            return await aio_pika.connect(
                host=host,
                port=port,
                login=to.user,
                password=to.password,
                virtualhost=to.virtual_host,
                ssl=context is not None,
                ssl_context=context,
                timeout=_CONNECT_S,
            )
        except StopAsyncIteration as error:  # of the library, which no `with` could pass on
            raise ConnectionError("the broker hung up in the middle of its greeting") from error

    async def publishing(self) -> AbstractChannel:
        """Return the channel for messages out, which confirms them."""
        if not self.is_open:
            await self.close()
            self.connection = await self.connected()
            self.channel = await self.connection.channel(
                publisher_confirms=True, on_return_raises=True
            )
        assert self.channel is not None
        return self.channel

    async def close(self) -> None:
        """End the connection for messages out."""
        connection, self.connection, self.channel = self.connection, None, None
        if connection is not None:
            await closed(connection)


@asynccontextmanager
async def calling(close: Callable[[], Awaitable[None]] | None = None) -> AsyncIterator[None]:
    """Call a broker; if it fails, close what it was called over, and raise `TransportError`."""
    try:
        yield
    except FAILURES as error:
        if close is not None:
            await close()
        raise TransportError(reason(error)) from error


async def closed(connection: AbstractConnection) -> None:
    """End a connection."""
    try:
        async with asyncio.timeout(_CONNECT_S):
            await connection.close()
    except FAILURES:
        return  # it is closed


def lasting(body: bytes, headers: dict[str, Any] | None = None) -> aio_pika.Message:
    """Return a message that the broker stores."""
    return aio_pika.Message(
        body,
        headers=headers,
        content_type="application/json",
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
    )


def reason(error: BaseException) -> str:
    """Return what is wrong, without secrets."""
    return (str(error) or type(error).__name__)[:500]


def _host_and_port(address: str) -> tuple[str, int]:
    scheme, _, target = address.rstrip("/").partition("://")
    host, _, port = target.rpartition(":")
    if scheme not in {"amqp", "amqps"} or not host or not port.isdecimal():
        raise TransportError("`address` is not amqp://HOST:PORT or amqps://HOST:PORT")
    return host.strip("[]"), int(port)
