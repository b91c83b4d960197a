"""Sinks of kind `amqp` and `kafka` on real brokers: the suite of their port."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import cast
from uuid import uuid4

import pytest

from callbacks.sink_site import site
from transports.kafka_broker import KafkaBroker
from transports.rabbit_broker import RabbitBroker
from weft.ports.transport import Connection
from weft.testing.sink_suite import SinkSuite

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")
pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

import aio_pika
from confluent_kafka import Consumer

from weft.extensions.brokers.kafka.topics import KafkaTopics
from weft.extensions.brokers.sinks.amqp.sender import AmqpSink
from weft.extensions.brokers.sinks.kafka.sender import KafkaSink

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]


def to(kind: str, address: str) -> Connection:
    return Connection(
        name="here", kind=kind, address=address, tenants=("default",),
        password="guest" if kind == "rabbitmq" else "", sinks=("json*", "gone", "weft.*"),
    )  # fmt: skip


@pytest.mark.engine(name="rabbitmq")
class TestExchanges(SinkSuite):
    """Messages reach a queue that is bound to a direct exchange, as others have declared both."""

    kind = "amqp"

    @pytest.fixture(autouse=True)
    async def _broker(self, rabbit: RabbitBroker) -> None:
        self.to = to("rabbitmq", rabbit.address)
        self.url = rabbit.address.replace("://", "://guest:guest@")
        self.name = f"json-{uuid4().hex}"
        async with await aio_pika.connect(self.url) as other:
            channel = await other.channel()
            exchange = await channel.declare_exchange(self.name, durable=True)
            queue = await channel.declare_queue(self.name, durable=True)
            await queue.bind(exchange, "json")

    def sink(self) -> AmqpSink:
        silent = replace(self.to, name="silent", address="amqp://127.0.0.1:9", sinks=("*",))
        return AmqpSink(site(self.to, silent, replace(self.to, name="other", tenants=("x",))))

    def target(self) -> Mapping[str, str]:
        return {"transport": "here", "exchange": self.name, "routing_key": "json"}

    def wrong_targets(self) -> Mapping[str, Mapping[str, str]]:
        target = self.target()
        return {
            "no queue of exchange": {**target, "routing_key": "nobody"},
            "NOT_FOUND": {**target, "exchange": "gone"},
            "`sinks` of transport 'here' does not allow 'secret'": {
                **target,
                "exchange": "secret",
            },
            "does not allow 'weft.default.events'": {**target, "exchange": "weft.default.events"},
            "there is no transport 'other'": {**target, "transport": "other"},
            "onnect": {**target, "transport": "silent"},
        }

    async def arrived(self) -> list[tuple[str | None, bytes]]:
        found: list[tuple[str | None, bytes]] = []
        async with await aio_pika.connect(self.url) as other:
            queue = await (await other.channel()).get_queue(self.name)
            while (message := await queue.get(fail=False)) is not None:
                await message.ack()
                assert message.headers["weft-delivery"] == message.message_id
                assert message.delivery_mode == aio_pika.DeliveryMode.PERSISTENT
                found.append((message.message_id, message.body))
        return found


@pytest.mark.engine(name="kafka")
class TestTopics(SinkSuite):
    """Messages reach a topic that others have made."""

    kind = "kafka"

    @pytest.fixture(autouse=True)
    async def _broker(self, kafka: KafkaBroker) -> None:
        self.to = to("kafka", kafka.address)
        self.boot = kafka.address.removeprefix("kafka://")
        self.name = f"json-{uuid4().hex}"
        topics = KafkaTopics(self.to)
        await topics.make({self.name: 1})
        await topics.close()

    def sink(self) -> KafkaSink:
        return KafkaSink(site(self.to))

    def target(self) -> Mapping[str, str]:
        return {"transport": "here", "topic": self.name, "key": "b1.j7"}

    def wrong_targets(self) -> Mapping[str, Mapping[str, str]]:
        return {
            "does not allow 'secret'": {**self.target(), "topic": "secret"},
            "there is no transport 'none'": {**self.target(), "transport": "none"},
        }

    async def arrived(self) -> list[tuple[str | None, bytes]]:
        return await asyncio.to_thread(self._read)

    def _read(self) -> list[tuple[str | None, bytes]]:
        consumer = Consumer({
            "bootstrap.servers": self.boot, "group.id": uuid4().hex,
            "auto.offset.reset": "earliest", "enable.partition.eof": True,
        })  # fmt: skip
        consumer.subscribe([self.name])
        found: list[tuple[str | None, bytes]] = []
        try:
            while True:
                message = consumer.poll(30)
                assert message is not None
                if message.error() is not None:  # the end
                    return found
                assert message.key() == b"b1.j7"
                headers = cast("list[tuple[str, bytes]]", message.headers())
                assert [name for name, _ in headers] == ["weft-delivery"]
                found.append((headers[0][1].decode(), message.value() or b""))
        finally:
            consumer.close()
