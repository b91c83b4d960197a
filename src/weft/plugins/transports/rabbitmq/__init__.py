"""The transport `rabbitmq`: durable quorum queues, one for each queue of a tenant (ADR 92, 113).

A message is confirmed when a quorum has stored it, and held by its consumer until it is
acknowledged. It must not know what messages say.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from secrets import token_hex
from typing import Any, Final

from weft.core.errors import Invalid
from weft.core.findings import Finding
from weft.ports.transport import (
    DEAD,
    Connection,
    Death,
    Delivery,
    Depth,
    Route,
    TransportError,
    read_refusal,
    refusal_of,
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
_REASONS: Final = {
    "rejected": "rejected", "expired": "expired", "maxlen": "full",
    "delivery_limit": "undelivered",
}  # fmt: skip
"""What is said for what the broker says."""
_FAILURES: Final = (AMQPError, OSError, TimeoutError, asyncio.InvalidStateError, RuntimeError)
"""What the library raises when the broker is away, refuses, or goes in the middle of a call."""


class RabbitMessage:
    """A message that is not acknowledged."""

    def __init__(
        self, message: AbstractIncomingMessage, channel: AbstractChannel, route: Route
    ) -> None:
        self._message = message
        self._channel = channel
        self._route = route

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

    async def refuse(self, why: str) -> None:
        """Write it to the dead exchange, and let the broker forget it when that is confirmed."""
        body, headers = refusal_of(self._route.name, why, self.body)
        name = Route(self._route.tenant, DEAD).name

        async def write() -> None:
            exchange = await self._channel.get_exchange(name, ensure=False)
            message = _lasting(body, dict(headers))
            await exchange.publish(message, routing_key=self._route.name, timeout=_CALL_S)
            await self._message.ack()

        await _asked(write)

    @property
    def death(self) -> Death:
        """Return what its headers say."""
        headers = {key: _text(value) for key, value in self._message.headers.items()}
        if (refusal := read_refusal(headers)) is not None:
            return refusal
        reason = _REASONS.get(headers.get("x-first-death-reason", ""))
        if reason is None:
            return Death("unroutable", self._message.routing_key or "")
        return Death(reason, headers.get("x-first-death-queue", ""))


class RabbitTransport:
    """One broker. The connection for messages out is made when it is first needed; each consumer
    has one of its own, because a broker that is short of memory stops those that publish.
    """

    def __init__(self, connection: Connection) -> None:
        self._to = connection
        self._connection: AbstractConnection | None = None
        self._channel: AbstractChannel | None = None
        self._declared: set[Route] = set()
        self._tenants: set[str] = set()
        """Whose exchanges this connection has declared."""

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
            await self._declare_tenant(channel, route.tenant)
            queue = await self._declare(channel, route)
            yield _deliveries(connection, channel, queue, route)
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
        route = Route(f"check-{token_hex(8)}", "q")
        found = [_version(await self._version(), self._to.name)]
        try:
            channel = await self._publishing()
            queue = await self._declare(channel, route)
            kept = await self._send(channel, route, b"check")
            message = await queue.get(timeout=_CALL_S, fail=False)
            if message is not None:
                await message.ack()
            await queue.delete(if_unused=False, if_empty=False)
            await channel.queue_delete(Route(route.tenant, DEAD).name)
            for name in (f"weft.{route.tenant}", Route(route.tenant, DEAD).name):
                await channel.exchange_delete(name)
        except _FAILURES as error:
            await self.close()
            advice = f"Let user {self._to.user} configure, write and read what is named `weft.*`."
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
        self._tenants.clear()
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

    async def _declare(self, channel: AbstractChannel, route: Route) -> Any:  # noqa: ANN401 (AbstractQueue)
        """Declare a queue, over the channel for messages out with the tenant's exchanges."""
        if channel is self._channel and route.tenant not in self._tenants:
            await self._declare_tenant(channel, route.tenant)
            self._tenants.add(route.tenant)
        dead = Route(route.tenant, DEAD).name
        if route.queue == DEAD:
            return await _queue(channel, dead, _QUORUM)
        ends = {
            "x-dead-letter-exchange": dead,
            "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
        }  # fmt: skip
        queue = await _queue(channel, route.name, {**_QUORUM, **ends})
        await queue.bind(f"weft.{route.tenant}", route.name, timeout=_CALL_S)
        return queue

    @staticmethod
    async def _declare_tenant(channel: AbstractChannel, tenant: str) -> None:
        """Declare the exchange that others write to, and where its messages end that no queue
        gets.
        """
        dead = Route(tenant, DEAD).name
        fanout = aio_pika.ExchangeType.FANOUT
        await channel.declare_exchange(dead, fanout, durable=True, timeout=_CALL_S)
        await (await _queue(channel, dead, _QUORUM)).bind(dead, timeout=_CALL_S)
        await channel.declare_exchange(
            f"weft.{tenant}", aio_pika.ExchangeType.DIRECT, durable=True,
            arguments={"alternate-exchange": dead}, timeout=_CALL_S,
        )  # fmt: skip

    @staticmethod
    async def _send(channel: AbstractChannel, route: Route, body: bytes) -> bool:
        try:
            await channel.default_exchange.publish(
                _lasting(body), routing_key=route.name, mandatory=True, timeout=_CALL_S
            )
        except _FAILURES:
            return False
        return True


async def _queue(channel: AbstractChannel, name: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 (AbstractQueue)
    return await channel.declare_queue(
        name, durable=True, arguments=dict(arguments), timeout=_CALL_S
    )


def _lasting(body: bytes, headers: dict[str, Any] | None = None) -> aio_pika.Message:
    return aio_pika.Message(
        body,
        headers=headers,
        content_type="application/json",
        delivery_mode=aio_pika.DeliveryMode.PERSISTENT,
    )


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


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
    route: Route,
) -> AsyncIterator[Delivery]:
    """Yield what comes, until the connection, the channel or the queue goes."""
    come: asyncio.Queue[AbstractIncomingMessage | None] = asyncio.Queue()

    def end(*_: object) -> None:
        come.put_nowait(None)

    connection.close_callbacks.add(end)
    channel.close_callbacks.add(end)
    await queue.consume(come.put)
    while (message := await come.get()) is not None:
        yield RabbitMessage(message, channel, route)
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
