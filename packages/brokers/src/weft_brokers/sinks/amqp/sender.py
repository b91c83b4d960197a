"""Messages to exchanges of RabbitMQ, which somebody else has declared."""

import asyncio
from collections.abc import Mapping
from typing import Any

from aio_pika.exceptions import PublishError

from weft.ports.senders import Answered
from weft.ports.sink import SinkMessage, SinkProblem, SinkSite
from weft.ports.transport import TransportError
from weft_brokers.rabbitmq.link import CALL_S, FAILURES, Link, lasting, reason


class AmqpSink:
    """Connections by transport and exchange: a broker closes the channel on which somebody
    publishes to an exchange that there is not, and others must not wait for that.
    """

    def __init__(self, site: SinkSite) -> None:
        self._site = site
        self._links: dict[tuple[str, str], Link] = {}
        self._opening = asyncio.Lock()

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Publish a durable message, and wait until a queue has it."""
        del sink
        target = message.target
        exchange = target["exchange"]
        try:
            to = self._site.connection(message, "rabbitmq", exchange)
        except SinkProblem as error:
            return Answered(error=str(error))
        link = self._links.setdefault((to.name, exchange), Link(to))
        made = lasting(message.body, {"weft-delivery": message.name})
        made.message_id = message.name
        try:
            async with self._opening:
                channel = await link.publishing()
            found = await channel.get_exchange(exchange, ensure=False)
            await found.publish(
                made, routing_key=target["routing_key"], mandatory=True, timeout=CALL_S
            )
        except PublishError:
            return Answered(error=f"no queue of exchange {exchange!r} takes it")
        except (*FAILURES, TransportError) as error:
            await link.close()
            return Answered(error=reason(error))
        return Answered(delivered=True)

    async def close(self) -> None:
        for link in self._links.values():
            await link.close()
