"""The source `amqp`: each message of a queue of RabbitMQ is an item.

Messages of a reading are acknowledged by the next one, which comes at once and begins with a
cursor that says that their items were kept. What was not kept, or whose process died before, comes
again; its items are known then.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Mapping
from typing import Any

from aio_pika.abc import AbstractConnection, AbstractIncomingMessage, AbstractQueue

from weft.ports.source import Item, Reading, SourceFailed, SourceSite
from weft.ports.transport import TransportError
from weft_brokers.rabbitmq.link import CALL_S, FAILURES, Link, closed, reason
from weft_brokers.sources.messages import BYTES_MAX, connection_of, item_of_message


class AmqpSource:
    """Reads a queue that somebody else has declared; one connection, for as long as it lasts."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._connection: AbstractConnection | None = None
        self._queue: AbstractQueue | None = None
        self._opened: Mapping[str, Any] = {}
        """With which options."""
        self._taken: tuple[str, list[AbstractIncomingMessage]] = ("", [])
        """What the last reading had, by the cursor that says that it was kept."""

    def read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read once."""
        try:
            return self._runner.run(self._read(options, str((cursor or {}).get("kept")), site))
        except (*FAILURES, TransportError) as error:
            self._runner.run(self._close())
            raise SourceFailed(f"queue {options['queue']!r}: {reason(error)}") from error

    async def _read(self, options: Mapping[str, Any], kept: str, site: SourceSite) -> Reading:
        queue = await self._open(options)
        name, taken = self._taken
        self._taken = ("", [])
        if taken and name != kept:
            await self._close()  # they come again
            queue = await self._open(options)
        elif taken:
            await taken[-1].ack(multiple=True)
        found: list[AbstractIncomingMessage] = []
        size, items = 0, []
        while len(found) < site.items_max and size < BYTES_MAX:
            message = await queue.get(fail=False, timeout=CALL_S)
            if message is None:
                break
            found.append(message)
            size += len(message.body)
            items.append(_item(message, options))
        if not items:
            return Reading((), None)
        self._taken = (uuid.uuid4().hex, found)
        return Reading(items, {"kept": self._taken[0]}, more=True)

    async def _open(self, options: Mapping[str, Any]) -> AbstractQueue:
        if (
            self._queue is not None
            and self._connection is not None
            and not self._connection.is_closed
            and self._opened == options
        ):
            return self._queue
        await self._close()
        self._connection = await Link(connection_of(options)).connected()
        channel = await self._connection.channel()
        self._queue = await channel.get_queue(str(options["queue"]))
        self._opened = {**options}
        return self._queue

    async def _close(self) -> None:
        connection, self._connection, self._queue = self._connection, None, None
        self._taken = ("", [])
        if connection is not None:
            await closed(connection)


def _item(message: AbstractIncomingMessage, options: Mapping[str, Any]) -> Item:
    name = message.message_id or hashlib.sha256(message.body).hexdigest()[:12]
    return item_of_message(message.body, f"message {name}"[:200], options)
