"""What comes by one queue of RabbitMQ, and what becomes of it."""

import asyncio
from contextlib import suppress
from typing import Any, Final

from aio_pika.abc import AbstractChannel, AbstractConnection
from aiormq.abc import DeliveredMessage

from weft.core.watermark import Watermark
from weft.extensions.brokers.rabbitmq.link import CALL_S, FAILURES, calling, lasting
from weft.ports.transport import DEAD, Death, Route, TransportError, read_refusal, refusal_of
from weft.telemetry import metrics

_REASONS: Final = {
    "rejected": "rejected", "expired": "expired", "maxlen": "full",
    "delivery_limit": "undelivered",
}  # fmt: skip
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
