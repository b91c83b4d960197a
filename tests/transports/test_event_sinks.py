"""The suite of the port `event_sink`, on real brokers."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from transports.kafka_broker import KafkaBroker
from transports.rabbit_broker import RabbitBroker
from weft.ports.topics import Record
from weft.ports.transport import Connection
from weft_testing.event_sink_suite import EventSinkSuite

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")
pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

import aio_pika
from confluent_kafka import Consumer

from transports.test_kafka import connection as kafka_connection
from transports.test_rabbitmq import connection as rabbit_connection
from transports.test_rabbitmq_events import QUORUM, WITH_GUEST
from weft_brokers.kafka.topics import KafkaTopics
from weft_brokers.rabbitmq.events import RabbitEvents

WITHIN_S = 30.0


@pytest.mark.engine(name="rabbitmq")
@pytest.mark.timeout(300)
class TestRabbitEvents(EventSinkSuite):
    """Topics are exchanges of RabbitMQ."""

    @pytest.fixture(autouse=True)
    def at(self, rabbit: RabbitBroker) -> None:
        """Note the broker."""
        self.broker = rabbit

    def connection(self) -> Connection:
        """Return the connection to it."""
        return rabbit_connection(self.broker)

    def sink(self, connection: Connection) -> RabbitEvents:
        """Return a sink."""
        return RabbitEvents(connection)

    def unreachable(self) -> str:
        """Return an address where nobody listens."""
        return "amqp://127.0.0.1:1"

    async def listen(self, topic: str) -> None:
        """Bind a queue."""
        async with await aio_pika.connect(WITH_GUEST) as other:
            channel = await other.channel()
            queue = await channel.declare_queue(topic, durable=True, arguments=QUORUM)
            await queue.bind(topic, "#")

    async def heard(self, topic: str, n_records: int) -> Sequence[Record]:
        """Take what the queue has."""
        found: list[Record] = []
        async with asyncio.timeout(WITHIN_S), await aio_pika.connect(WITH_GUEST) as other:
            queue = await (await other.channel()).get_queue(topic)
            async with queue.iterator(no_ack=True) as messages:
                async for one in messages:
                    headers = {name: str(text) for name, text in one.headers.items()}
                    key = (one.routing_key or "").removeprefix(f"{headers['kind']}.")
                    found.append(Record(topic, key, one.body, headers))
                    if len(found) == n_records:
                        break
        return found


@pytest.mark.engine(name="kafka")
@pytest.mark.timeout(300)
class TestKafkaTopics(EventSinkSuite):
    """Topics of Kafka."""

    @pytest.fixture(autouse=True)
    def at(self, kafka: KafkaBroker) -> None:
        """Note the broker."""
        self.broker = kafka

    def connection(self) -> Connection:
        """Return the connection to it."""
        return kafka_connection(self.broker.address)

    def sink(self, connection: Connection) -> KafkaTopics:
        """Return a sink."""
        return KafkaTopics(connection)

    def unreachable(self) -> str:
        """Return an address where nobody listens."""
        return "kafka://127.0.0.1:1"

    async def listen(self, topic: str) -> None:
        """Do nothing: records stay."""

    async def heard(self, topic: str, n_records: int) -> Sequence[Record]:
        """Read from the first record on."""
        return await asyncio.to_thread(self._read, topic, n_records)

    def _read(self, topic: str, n_records: int) -> Sequence[Record]:
        consumer = Consumer(
            {
                "bootstrap.servers": self.broker.address.removeprefix("kafka://"),
                "group.id": str(uuid4()),
                "auto.offset.reset": "earliest",
            }
        )
        consumer.subscribe([topic])
        found: list[Record] = []
        while len(found) < n_records:
            if (one := consumer.poll(WITHIN_S)) is None:
                break
            assert one.error() is None, one.error()
            known: Any = one.headers() or ()
            headers = {name: value.decode() for name, value in known}
            found.append(Record(topic, (one.key() or b"").decode(), one.value() or b"", headers))
        consumer.close()
        return found
