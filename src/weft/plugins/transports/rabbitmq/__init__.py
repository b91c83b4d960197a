"""The transport `rabbitmq`: durable quorum queues, one for each queue of a tenant.

A message is confirmed when a quorum has stored it, and held by its consumer until it is
acknowledged. It must not know what messages say.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any, Final

from weft.core.errors import Invalid
from weft.core.findings import Finding
from weft.ports.transport import (
    OUTCOMES,
    Connection,
    Delivery,
    Depth,
    Route,
    TransportError,
)

try:
    import aio_pika
    from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage
    from aio_pika.exceptions import AMQPError
except ImportError as error:
    raise Invalid(
        "the transport rabbitmq needs a library",
        detail="The package aio-pika is not installed.",
        hint="Install weft with its extra: weft[rabbitmq].",
    ) from error

VERSION_MIN: Final = (3, 10)
_CONNECT_S: Final = 10.0
_CALL_S: Final = 30.0
_UNCONFIRMED_MAX: Final = 1000
_QUORUM: Final = {"x-queue-type": "quorum"}
_FAILURES: Final = (AMQPError, OSError, TimeoutError, asyncio.InvalidStateError, RuntimeError)
"""What the library raises when the broker is away, refuses, or goes in the middle of a call."""


class RabbitMessage:
    """A message that is not acknowledged."""

    def __init__(self, message: AbstractIncomingMessage) -> None:
        self._message = message

    @property
    def body(self) -> bytes:
        """Return its bytes."""
        return self._message.body

    async def acknowledge(self) -> None:
        """Let the broker forget it."""
        await _asked(self._message.ack)

    async def give_back(self) -> None:
        """Put it into its queue again."""
        await _asked(lambda: self._message.nack(requeue=True))


class RabbitTransport:
    """One broker. The connection for messages out is made when it is first needed; each consumer
    has one of its own, because a broker that is short of memory stops those that publish.
    """

    def __init__(self, connection: Connection) -> None:
        self._to = connection
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._declared: set[Route] = set()

    async def publish(self, messages: Sequence[tuple[Route, bytes]]) -> Sequence[bool]:
        """Send durable messages, and wait for the confirms."""
        try:
            channel = await self._publishing()
            for route in {route for route, _ in messages} - self._declared:
                await self._declare(channel, route)
                self._declared.add(route)
        except _FAILURES as error:
            await self.close()
            raise TransportError(_reason(error)) from error
        found: list[bool] = []
        for first in range(0, len(messages), _UNCONFIRMED_MAX):
            part = messages[first : first + _UNCONFIRMED_MAX]
            found += await asyncio.gather(*(self._send(channel, *one) for one in part))
        if not all(found):
            await self.close()  # so that queues which somebody has deleted are declared again
        return found

    @asynccontextmanager
    async def consume(self, route: Route, *, limit: int) -> AsyncIterator[AsyncIterator[Delivery]]:
        """Consume from the queue of a route, with a connection of its own."""
        try:
            connection = await self._connected()
        except _FAILURES as error:
            raise TransportError(_reason(error)) from error
        try:
            channel = await connection.channel()
            await channel.set_qos(prefetch_count=limit)
            queue = await self._declare(channel, route)
            yield _deliveries(connection, channel, queue)
        except _FAILURES as error:
            raise TransportError(_reason(error)) from error
        finally:
            await _closed(connection)

    async def depths(self, routes: Sequence[Route]) -> Sequence[Depth]:
        """Return the messages that wait at the broker, and the consumers."""
        try:
            channel = await self._publishing()
            found = [(await self._declare(channel, one)).declaration_result for one in routes]
        except _FAILURES as error:
            await self.close()
            raise TransportError(_reason(error)) from error
        return [Depth(one.message_count or 0, one.consumer_count or 0) for one in found]

    async def check(self) -> Sequence[Finding]:
        """Make a queue, send and get a message, and remove the queue."""
        route = Route("check", token_hex(8))
        found = [_version(await self._version(), self._to.name)]
        try:
            channel = await self._publishing()
            queue = await self._declare(channel, route)
            kept = await self._send(channel, route, b"check")
            message = await queue.get(timeout=_CALL_S, fail=False)
            if message is not None:
                await message.ack()
            await queue.delete(if_unused=False, if_empty=False)
        except _FAILURES as error:
            await self.close()
            advice = f"Let user {self._to.user} configure, write and read queues named `weft.*`."
            return [*found, Finding(self._to.name, "wrong", _reason(error), advice)]
        if kept and message is not None:
            what = "a message went out and came back over a quorum queue"
            return [*found, Finding(self._to.name, "ok", what)]
        what = "a message was not confirmed, or did not come back"
        return [*found, Finding(self._to.name, "wrong", what, "Look into the log of the broker.")]

    async def _version(self) -> str:
        try:
            _ = await self._publishing()
            transport = getattr(self._connection, "transport", None)
            properties = {} if transport is None else transport.connection.server_properties
        except _FAILURES as error:
            await self.close()
            raise TransportError(_reason(error)) from error
        version = properties.get("version", "")
        return version.decode() if isinstance(version, bytes) else str(version)

    async def close(self) -> None:
        """End the connection for messages out."""
        connection, self._connection, self._channel = self._connection, None, None
        self._declared.clear()
        if connection is not None:
            await _closed(connection)

    async def _connected(self) -> AbstractConnection:
        to = self._to
        context = None
        if to.address.startswith("amqps:"):
            cafile = None if to.ca_file is None else str(to.ca_file)
            context = ssl.create_default_context(cafile=cafile)
        host, port = _host_and_port(to.address)
        return await aio_pika.connect(
            host=host, port=port, login=to.user, password=to.password,
            virtualhost=to.virtual_host, ssl=context is not None, ssl_context=context,
            timeout=_CONNECT_S,
        )  # fmt: skip

    async def _publishing(self) -> AbstractChannel:
        if self._connection is None or self._connection.is_closed or self._channel is None:
            await self.close()
            self._connection = await self._connected()
            self._channel = await self._connection.channel(
                publisher_confirms=True, on_return_raises=True
            )
        return self._channel

    @staticmethod
    async def _declare(channel: AbstractChannel, route: Route) -> Any:  # noqa: ANN401 (AbstractQueue)
        return await channel.declare_queue(
            queue_name(route), durable=True, arguments=dict(_QUORUM), timeout=_CALL_S
        )

    @staticmethod
    async def _send(channel: AbstractChannel, route: Route, body: bytes) -> bool:
        message = aio_pika.Message(
            body,
            content_type="application/json",
            delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
        )
        try:
            await channel.default_exchange.publish(
                message, routing_key=queue_name(route), mandatory=True, timeout=_CALL_S
            )
        except _FAILURES:
            return False
        return True


def queue_name(route: Route) -> str:
    """Return what the broker calls the queue of a route."""
    if route.queue == OUTCOMES:
        return f"weft.{route.tenant}.outcomes"
    return f"weft.{route.tenant}.submit.{route.queue}"


def _version(text: str, name: str) -> Finding:
    """Say what this version means for messages that are held for long."""
    number = tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
    if number < VERSION_MIN:
        return Finding(name, "wrong", f"RabbitMQ {text}", "weft needs RabbitMQ 3.10 or newer.")
    what = f"RabbitMQ {text}; it closes channels that hold a message for consumer_timeout"
    return Finding(name, "ok", f"{what} (30 min if it is not set), and gives the message again")


async def _deliveries(
    connection: AbstractConnection,
    channel: AbstractChannel,
    queue: Any,  # noqa: ANN401 (AbstractQueue)
) -> AsyncIterator[Delivery]:
    """Yield what comes, until the connection, the channel or the queue goes."""
    come: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()

    def end(*_: object) -> None:
        come.put_nowait(None)

    connection.close_callbacks.add(end)
    channel.close_callbacks.add(end)
    await queue.consume(come.put)
    while (message := await come.get()) is not None:
        yield RabbitMessage(message)
    raise TransportError("the broker has ended the connection")


async def _asked(call: Callable[[], Awaitable[object]]) -> None:
    try:
        await call()
    except _FAILURES as error:
        raise TransportError(_reason(error)) from error


async def _closed(connection: AbstractConnection) -> None:
    try:
        async with asyncio.timeout(_CONNECT_S):
            await connection.close()
    except _FAILURES:
        return  # it is closed


def _host_and_port(address: str) -> tuple[str, int]:
    scheme, _, target = address.rstrip("/").partition("://")
    host, _, port = target.rpartition(":")
    if scheme not in {"amqp", "amqps"} or not host or not port.isdecimal():
        raise TransportError("`address` is not amqp://HOST:PORT or amqps://HOST:PORT")
    return host.strip("[]"), int(port)


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:500]
