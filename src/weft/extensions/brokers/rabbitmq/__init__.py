"""The transport `rabbitmq`: durable quorum queues, one for each queue of a tenant (ADR 92, 113).

A message is confirmed when a quorum has stored it, and held by its consumer until it is
acknowledged. It must not know what messages say.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import Any, Final

import aio_pika
from aio_pika.abc import AbstractChannel
from aio_pika.exceptions import ChannelNotFoundEntity, ChannelPreconditionFailed

from weft.core.findings import Finding
from weft.extensions.brokers.rabbitmq.consumer import RabbitDeliveries
from weft.extensions.brokers.rabbitmq.link import (
    CALL_S,
    FAILURES,
    Link,
    calling,
    closed,
    lasting,
    reason,
)
from weft.ports.transport import DEAD, Connection, Deliveries, Depth, Route

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
            f"weft.{tenant}", aio_pika.ExchangeType.DIRECT, durable=True,
            arguments={"alternate-exchange": dead}, timeout=CALL_S,
        )  # fmt: skip

    @staticmethod
    async def _send(channel: AbstractChannel, route: Route, body: bytes) -> bool:
        link: Any = await channel.get_underlay_channel()
        try:
            # Without a wait for each frame to be written, which takes longer than all the rest.
            await link.basic_publish(
                body, routing_key=route.name, properties=lasting(body).properties,
                mandatory=True, timeout=CALL_S, wait=False,
            )  # fmt: skip
        except FAILURES:
            return False
        return True


def _arguments(route: Route) -> Mapping[str, Any]:
    if route.queue == DEAD:
        return _QUORUM
    return {
        **_QUORUM, "x-dead-letter-exchange": Route(route.tenant, DEAD).name,
        "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
    }  # fmt: skip


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
