"""The events of a tenant, to an exchange of RabbitMQ (ADR 120), and what foreign programs are told
of their jobs (ADR 132). It must not know what they say.
"""

import asyncio
from collections.abc import Mapping, Sequence

import aio_pika
from aio_pika.abc import AbstractExchange
from aio_pika.exceptions import PublishError

from weft.plugins.transports.rabbitmq.link import CALL_S, FAILURES, Link, lasting, reason
from weft.ports.topics import Record
from weft.ports.transport import Connection, TransportError


class RabbitEvents:
    """One broker; a topic is a durable exchange of type `topic`, by whose routing keys programs
    choose: `KIND.KEY`, such as `batch.complete.b7`. What no queue asks for is dropped.
    """

    def __init__(self, connection: Connection) -> None:
        self._link = Link(connection)
        self._exchanges: dict[str, AbstractExchange] = {}
        """Those that this connection has declared."""
        self._is_broken = False

    async def make(self, partitions: Mapping[str, int]) -> None:
        """Declare the exchanges; they have no partitions."""
        if not self._link.is_open:
            await self.close()
        try:
            channel = await self._link.publishing()
            for name in partitions.keys() - self._exchanges.keys():
                self._exchanges[name] = await channel.declare_exchange(
                    name, aio_pika.ExchangeType.TOPIC, durable=True, timeout=CALL_S
                )
        except FAILURES as error:
            await self.close()
            raise TransportError(reason(error)) from error

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Send durable messages in order, and wait for the confirms."""
        await self.make(dict.fromkeys({one.topic for one in records}, 1))
        kept = await asyncio.gather(*(self._send(one) for one in records))
        if self._is_broken:
            await self.close()  # so that an exchange which somebody has deleted is declared again
        return kept

    async def _send(self, record: Record) -> bool:
        key = ".".join(filter(None, (record.headers["kind"], record.key)))
        message = lasting(record.value, dict(record.headers))
        message.message_id = record.headers["id"]
        try:
            await self._exchanges[record.topic].publish(
                message, routing_key=key, mandatory=record.needs_reader, timeout=CALL_S
            )
        except PublishError:
            return False  # it came back: no queue asks for it
        except FAILURES:
            self._is_broken = True
            return False
        return True

    async def close(self) -> None:
        """End the connection, if there is one."""
        self._exchanges.clear()
        self._is_broken = False
        await self._link.close()
