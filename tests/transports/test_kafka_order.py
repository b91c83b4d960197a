"""Records of one key stay in order, whatever the broker does while they are written."""

import asyncio
from collections.abc import Callable, Sequence
from uuid import uuid4

import pytest

from transports.kafka_broker import KafkaBroker
from transports.test_kafka import connection
from weft.ports.topics import Record
from weft.ports.transport import TransportError

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic

from weft.extensions.brokers.kafka.topics import KafkaTopics

pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(300)]
N_PARTITIONS = 30
N_KEYS = 60
SET = 6000
N_MOMENTS = 30
PADDING = b"x" * 2000
"""So that they make many requests."""


def make_topic(kafka: KafkaBroker, replicas_min: int) -> str:
    """Make a topic that needs this number of replicas; return its name."""
    name = f"order-{uuid4()}"
    admin = AdminClient({"bootstrap.servers": kafka.address.removeprefix("kafka://")})
    topic = NewTopic(
        name, num_partitions=N_PARTITIONS, config={"min.insync.replicas": str(replicas_min)},
    )  # fmt: skip
    admin.create_topics([topic])[name].result(30)
    return name


def refuse_and_take(kafka: KafkaBroker, topic: str) -> None:
    """Let the topic refuse records for a moment, some times: it has one replica."""
    admin = AdminClient({"bootstrap.servers": kafka.address.removeprefix("kafka://")})
    for n in [1, 2] * N_MOMENTS + [1]:
        entry = ConfigEntry(
            "min.insync.replicas", str(n), incremental_operation=AlterConfigOpType.SET
        )  # fmt: skip
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        admin.incremental_alter_configs([resource])[resource].result(30)


def written(kafka: KafkaBroker, topic: str) -> dict[str, Sequence[int]]:
    """Return the numbers of the records of each key, each where it stands first."""
    consumer = Consumer(
        {"bootstrap.servers": kafka.address.removeprefix("kafka://"), "group.id": "nobody"}
    )
    left, found = 0, dict[str, dict[int, None]]()
    for number in range(N_PARTITIONS):
        at = TopicPartition(topic, number, OFFSET_BEGINNING)
        low, high = consumer.get_watermark_offsets(at, timeout=30)
        left += high - low
        consumer.incremental_assign([at])
    while left:
        for one in consumer.consume(1000, 1):
            assert one.error() is None
            left -= 1
            key, number = (one.key() or b"").decode(), int((one.value() or b"").split()[0])
            found.setdefault(key, {})[number] = None
    consumer.close()
    return {key: list(numbers) for key, numbers in found.items()}


async def write_during(kafka: KafkaBroker, topic: str, disturb: Callable[[], None]) -> None:
    """Write as the driver tells events, a set again until all of it is confirmed; then look."""
    topics, n_written = KafkaTopics(connection(kafka.address)), 0
    disturbing = asyncio.create_task(asyncio.to_thread(disturb))
    try:
        async with asyncio.timeout(200):
            while not disturbing.done():
                numbers = range(n_written, n_written + SET)
                records = [
                    Record(topic, f"b{n % N_KEYS}", b"%d %b" % (n, PADDING), {}) for n in numbers
                ]
                while not await is_written(topics, records):
                    pass
                n_written += SET
        await disturbing
    finally:
        await topics.close()
    found = await asyncio.to_thread(written, kafka, topic)

    assert sum(map(len, found.values())) == n_written
    assert {key: sorted(numbers) for key, numbers in found.items()} == found


async def is_written(topics: KafkaTopics, records: Sequence[Record]) -> bool:
    try:
        return all(await topics.publish(records))
    except TransportError:
        return False


async def test_what_is_refused_for_a_moment_stays_in_front_of_what_follows(
    kafka: KafkaBroker,
) -> None:
    """Requests are under way beside each other: the first of them are sent again."""
    topic = make_topic(kafka, replicas_min=2)
    await write_during(kafka, topic, lambda: refuse_and_take(kafka, topic))


async def test_a_kill_of_the_broker_while_records_are_written_keeps_their_order(
    kafka: KafkaBroker,
) -> None:
    topic = make_topic(kafka, replicas_min=1)

    def kill() -> None:
        kafka.kill()
        kafka.start()

    await write_during(kafka, topic, kill)
