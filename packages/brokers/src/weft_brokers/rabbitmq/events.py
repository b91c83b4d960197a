"""The events of a tenant, to an exchange of RabbitMQ (ADR 120), and what foreign programs are told
of their jobs (ADR 132). It must not know what they say.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

import aio_pika
from aio_pika.abc import AbstractExchange
from aio_pika.exceptions import PublishError

from weft.ports.topics import Record
from weft.ports.transport import Connection
from weft_brokers.rabbitmq.link import CALL_S, FAILURES, Link, calling, lasting

_ALL: Final = -1
"""The last record that tells of all parts of its key."""


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
        async with calling(self.close):
            channel = await self._link.publishing()
            for name in partitions.keys() - self._exchanges.keys():
                self._exchanges[name] = await channel.declare_exchange(
                    name, aio_pika.ExchangeType.TOPIC, durable=True, timeout=CALL_S
                )

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Send durable messages in order, and wait for the confirms. One that follows another of
        the same part of a key waits for its confirm; once one is refused, no more are sent.
        """
        await self.make(dict.fromkeys({record.topic for record in records}, 1))
        sent: list[asyncio.Task[bool]] = []
        last: dict[tuple[str, str], dict[int, asyncio.Task[bool]]] = {}
        try:
            for record in records:
                before = last.setdefault((record.topic, record.key), {})
                parts = (_ALL, *record.parts) if record.parts else before.keys()
                known = {before[part] for part in parts if part in before}
                if waits := {task for task in known if not task.done()}:
                    await asyncio.wait(waits)
                sent.append(asyncio.create_task(self._send(record)))
                if not record.parts:
                    before.clear()
                before.update(dict.fromkeys(record.parts or (_ALL,), sent[-1]))
            kept = await asyncio.gather(*sent)
        finally:
            for task in sent:
                task.cancel()
        if self._is_broken:
            await self.close()  # so that an exchange which somebody has deleted is declared again
        return kept

    async def _send(self, record: Record) -> bool:
        if self._is_broken:
            return False
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
        self._exchanges.clear()
        self._is_broken = False
        await self._link.close()
