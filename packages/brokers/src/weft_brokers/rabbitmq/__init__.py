"""The transport `rabbitmq`: durable quorum queues, one for each queue of a tenant (ADR 92, 113).

A message is confirmed when a quorum has stored it, and held by its consumer until it is
acknowledged. It must not know what messages say.

What comes by one queue of RabbitMQ, and what becomes of it.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import Any, Final

import aio_pika
from aio_pika.abc import AbstractChannel, AbstractConnection
from aio_pika.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed
from aiormq.abc import DeliveredMessage

from weft.core.findings import Finding
from weft.core.watermark import Watermark
from weft.ports.transport import (
    DEAD,
    Connection,
    Death,
    Deliveries,
    Depth,
    Route,
    TransportError,
    read_refusal,
    refusal_of,
)
from weft.telemetry import metrics
from weft_brokers.rabbitmq.link import (
    CALL_S,
    FAILURES,
    Link,
    calling,
    closed,
    lasting,
    reason,
)

_REASONS: Final = {
    "rejected": "rejected",
    "expired": "expired",
    "maxlen": "full",
    "delivery_limit": "undelivered",
}
"""What is said for what the broker says."""


class RabbitDeliveries:
    """The messages of one consumer, which has the channel for itself. It ends when the
    connection, the channel or the queue goes; that the queue went comes as a cancel of the
    consumer.
    """

    def __init__(
        self, connection: AbstractConnection, channel: AbstractChannel, queue: str, route: Route
    ) -> None:
        self.route = route
        self.channel = channel
        self._connection = connection
        self._queue = queue
        self._come: asyncio.Queue[DeliveredMessage | None] = asyncio.Queue()
        self._limit = 0
        self._tag: str | None = None
        self._unsettled = Watermark()
        self._settled: list[int] = []
        """Tags that the broker is not told of yet."""
        self._telling: asyncio.Task[None] | None = None

    async def begin(self, limit: int) -> None:
        """Consume."""
        self._link: Any = await self.channel.get_underlay_channel()
        self._connection.close_callbacks.add(self._end)
        self.channel.close_callbacks.add(self._end)
        self._link.on_consumer_cancel_callbacks.add(self._end)
        await self._consume(limit)

    async def allow(self, limit: int) -> None:
        """Consume anew: a quorum queue takes the limit of a consumer when it begins. What it has
        got stays with the channel.
        """
        if limit != self._limit:
            async with calling():
                await self._link.basic_cancel(self._tag, timeout=CALL_S)
                await self._consume(limit)

    def __aiter__(self) -> "RabbitDeliveries":
        return self

    async def __anext__(self) -> "RabbitMessage":
        if (message := await self._come.get()) is None:
            raise TransportError("the broker has ended the connection or the consumer")
        assert message.delivery_tag is not None
        self._unsettled.deliver(message.delivery_tag)
        metrics.TRANSPORT_UNACKNOWLEDGED.labels(self.route.name).inc()
        if message.redelivered:
            metrics.TRANSPORT_REDELIVERED.labels(self.route.name).inc()
        return RabbitMessage(message, self)

    def settle(self, tag: int) -> None:
        """Let the broker forget a message, with the others of this moment."""
        self._settled.append(tag)
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell_settled())

    def drop(self, tag: int) -> None:
        """Note that a message is nothing of ours any more."""
        self._unsettled.finish(tag)
        metrics.TRANSPORT_UNACKNOWLEDGED.labels(self.route.name).dec()

    async def end(self) -> None:
        """Tell the broker of all that is settled; what is not is another's."""
        if self._telling is not None:
            await self._telling
        metrics.TRANSPORT_UNACKNOWLEDGED.labels(self.route.name).dec(len(self._unsettled))

    async def _tell_settled(self) -> None:
        """Acknowledge at once what lies before the first message that is open, the rest alone."""
        with suppress(*FAILURES):  # then they come again
            while settled := self._settled:
                self._settled = []
                for tag in settled:
                    self.drop(tag)
                smallest = self._unsettled.smallest
                before = [tag for tag in settled if smallest is None or tag < smallest]
                last = max(before, default=0)
                alone = [tag for tag in settled if tag not in before]
                for tag in (*alone, last) if last else alone:
                    await self._link.basic_ack(tag, multiple=tag == last, wait=False)
                await asyncio.sleep(0)

    async def _consume(self, limit: int) -> None:
        await self._link.basic_qos(prefetch_count=limit, timeout=CALL_S)
        self._limit = limit
        found = await self._link.basic_consume(self._queue, self._come.put, timeout=CALL_S)
        self._tag = found.consumer_tag

    def _end(self, *_: object) -> None:
        self._come.put_nowait(None)


class RabbitMessage:
    """A message that is not acknowledged."""

    def __init__(self, message: DeliveredMessage, deliveries: RabbitDeliveries) -> None:
        assert message.delivery_tag is not None
        self._message = message
        self._tag = message.delivery_tag
        self._deliveries = deliveries

    @property
    def body(self) -> bytes:
        return self._message.body

    async def acknowledge(self) -> None:
        self._deliveries.settle(self._tag)

    async def give_back(self) -> None:
        """Put it into its queue again."""
        self._deliveries.drop(self._tag)
        async with calling():
            await self._message.channel.basic_nack(self._tag, requeue=True)

    async def refuse(self, why: str) -> None:
        """Write it to the dead exchange, and let the broker forget it when that is confirmed."""
        route = self._deliveries.route
        body, headers = refusal_of(route.name, why, self.body)
        name = Route(route.tenant, DEAD).name
        async with calling():
            exchange = await self._deliveries.channel.get_exchange(name, ensure=False)
            message = lasting(body, dict(headers))
            await exchange.publish(message, routing_key=route.name, timeout=CALL_S)
        await self.acknowledge()

    @property
    def death(self) -> Death:
        found = self._message.header.properties.headers or {}
        headers = {key: _text(value) for key, value in found.items()}
        if (refusal := read_refusal(headers)) is not None:
            return refusal
        why = _REASONS.get(headers.get("x-first-death-reason", ""))
        if why is None:
            return Death("unroutable", self._message.routing_key or "")
        return Death(why, headers.get("x-first-death-queue", ""))


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


VERSION_MIN: Final = (3, 10)
_UNCONFIRMED_MAX: Final = 1000
_QUORUM: Final = {"x-queue-type": "quorum"}


class RabbitTransport:
    """One broker. The connection for messages out is made when it is first needed; each consumer
    has one of its own, because a broker that is short of memory stops those that publish.
    """

    def __init__(self, connection: Connection) -> None:
        self._to = connection
        self._link = Link(connection)
        self._declared: set[Route] = set()
        self._tenants: set[str] = set()
        """Whose exchanges this connection has declared."""

    async def publish(self, messages: Sequence[tuple[Route, bytes]]) -> Sequence[bool]:
        """Send durable messages, and wait for the confirms."""
        async with calling(self.close):
            channel = await self._publishing()
            for route in {route for route, _ in messages} - self._declared:
                await self._declare(channel, route)
                self._declared.add(route)
        found: list[bool] = []
        for first in range(0, len(messages), _UNCONFIRMED_MAX):
            part = messages[first : first + _UNCONFIRMED_MAX]
            found += await asyncio.gather(*(self._send(channel, *one) for one in part))
        if not all(found):
            await self.close()  # so that queues which somebody has deleted are declared again
        return found

    @asynccontextmanager
    async def consume(self, route: Route, *, limit: int) -> AsyncIterator[Deliveries]:
        """Consume from the queue of a route, with a connection of its own."""
        async with calling():
            connection = await self._link.connected()
            try:
                channel = await connection.channel()
                await self._declare_tenant(channel, route.tenant)
                queue = await self._declare(channel, route)
                deliveries = RabbitDeliveries(connection, channel, queue.name, route)
                await deliveries.begin(limit)
                try:
                    yield deliveries
                finally:
                    await deliveries.end()
            finally:
                await closed(connection)

    async def depths(self, routes: Sequence[Route]) -> Sequence[Depth]:
        """Return the messages that wait at the broker, and the consumers."""
        async with calling(self.close):
            channel = await self._publishing()
            found = [(await self._declare(channel, route)).declaration_result for route in routes]
        return [Depth(one.message_count or 0, one.consumer_count or 0) for one in found]

    async def check(self, routes: Sequence[Route] = ()) -> Sequence[Finding]:
        """Make a queue, send and get a message, and remove the queue; look at existing ones."""
        route = Route(f"check-{token_hex(8)}", "q")
        found = [_version(await self._version(), self._to.name)]
        found += [wrong for one in routes if (wrong := await self._mistake(one)) is not None]
        try:
            channel = await self._publishing()
            queue = await self._declare(channel, route)
            kept = await self._send(channel, route, b"check")
            message = await queue.get(timeout=CALL_S, fail=False)
            if message is not None:
                await message.ack()
            await queue.delete(if_unused=False, if_empty=False)
            await channel.queue_delete(Route(route.tenant, DEAD).name)
            for name in (f"weft.{route.tenant}", Route(route.tenant, DEAD).name):
                await channel.exchange_delete(name)
        except FAILURES as error:
            await self.close()
            advice = f"Let user {self._to.user} configure, write and read what is named `weft.*`."
            return [*found, Finding(self._to.name, "wrong", reason(error), advice)]
        if kept and message is not None:
            what = "a message went out and came back over a quorum queue"
            return [*found, Finding(self._to.name, "ok", what)]
        what = "a message was not confirmed, or did not come back"
        return [*found, Finding(self._to.name, "wrong", what, "Look into the log of the broker.")]

    async def _mistake(self, route: Route) -> Finding | None:
        """Say what is wrong with a queue that is there; None: nothing, or it is not there."""
        async with calling(self.close):
            _ = await self._publishing()
            assert self._link.connection is not None
            # What is refused closes its channel.
            channel = await self._link.connection.channel()
            try:
                with suppress(ChannelNotFoundEntity):
                    await channel.declare_queue(route.name, passive=True, timeout=CALL_S)
                    await _queue(channel, route.name, _arguments(route))
                    await channel.close()
            except ChannelPreconditionFailed as error:
                what = f"queue {route.name} is none that weft would make: {reason(error)}"
                advice = "Delete it at the broker when it is empty; weft makes it again."
                return Finding(self._to.name, "wrong", what, advice)
        return None

    async def _version(self) -> str:
        async with calling(self.close):
            _ = await self._publishing()
            transport = getattr(self._link.connection, "transport", None)
            properties = {} if transport is None else transport.connection.server_properties
        version = properties.get("version", "")
        return version.decode() if isinstance(version, bytes) else str(version)

    async def close(self) -> None:
        """End the connection for messages out."""
        self._declared.clear()
        self._tenants.clear()
        await self._link.close()

    async def _publishing(self) -> AbstractChannel:
        if not self._link.is_open:
            await self.close()
        return await self._link.publishing()

    async def _declare(self, channel: AbstractChannel, route: Route) -> Any:  # noqa: ANN401 (AbstractQueue)
        """Declare a queue, over the channel for messages out with the tenant's exchanges."""
        if channel is self._link.channel and route.tenant not in self._tenants:
            await self._declare_tenant(channel, route.tenant)
            self._tenants.add(route.tenant)
        queue = await _queue(channel, route.name, _arguments(route))
        if route.queue == DEAD:
            return queue
        await queue.bind(f"weft.{route.tenant}", route.name, timeout=CALL_S)
        return queue

    @staticmethod
    async def _declare_tenant(channel: AbstractChannel, tenant: str) -> None:
        """Declare the exchange that others write to, and where messages end that no queue gets."""
        dead = Route(tenant, DEAD).name
        fanout = aio_pika.ExchangeType.FANOUT
        await channel.declare_exchange(dead, fanout, durable=True, timeout=CALL_S)
        await (await _queue(channel, dead, _QUORUM)).bind(dead, timeout=CALL_S)
        await channel.declare_exchange(
            f"weft.{tenant}",
            aio_pika.ExchangeType.DIRECT,
            durable=True,
            arguments={"alternate-exchange": dead},
            timeout=CALL_S,
        )

    @staticmethod
    async def _send(channel: AbstractChannel, route: Route, body: bytes) -> bool:
        link: Any = await channel.get_underlay_channel()
        try:
            # Without a wait for each frame to be written, which takes longer than all the rest.
            await link.basic_publish(
                body,
                routing_key=route.name,
                properties=lasting(body).properties,
                mandatory=True,
                timeout=CALL_S,
                wait=False,
            )
        except FAILURES:
            return False
        return True


def _arguments(route: Route) -> Mapping[str, Any]:
    if route.queue == DEAD:
        return _QUORUM
    return {
        **_QUORUM,
        "x-dead-letter-exchange": Route(route.tenant, DEAD).name,
        "x-dead-letter-strategy": "at-least-once",
        "x-overflow": "reject-publish",
    }


async def _queue(channel: AbstractChannel, name: str, arguments: Mapping[str, Any]) -> Any:  # noqa: ANN401 (AbstractQueue)
    return await channel.declare_queue(
        name, durable=True, arguments=dict(arguments), timeout=CALL_S
    )


def _version(text: str, name: str) -> Finding:
    """Say what this version means for messages that are held for long."""
    number = tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
    if number < VERSION_MIN:
        return Finding(name, "wrong", f"RabbitMQ {text}", "weft needs RabbitMQ 3.10 or newer.")
    what = f"RabbitMQ {text}; it closes channels that hold a message for consumer_timeout"
    return Finding(name, "ok", f"{what} (30 min if it is not set), and gives the message again")
