"""What goes wrong at a real Kafka: nothing is lost, nothing runs twice."""

import asyncio
import contextlib
import random
import threading
from typing import Final

import pytest

from e2e.conftest import until
from transports.kafka_broker import KafkaBroker
from transports.site import Site
from transports.test_kafka import connection, site
from weft.ports.transport import Route, TransportError
from weft_testing.transport_suite import a_route

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from weft_brokers.kafka import KafkaTransport

__all__ = ["site"]
pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(600)]
N_JOBS: Final = 20_000
N_PARTS: Final = 40
N_REPLAYED: Final = 200
REBALANCE_S: Final = 5.0


async def test_a_topic_of_another_type_is_refused(kafka: KafkaBroker) -> None:
    """One that is compacted takes no records without keys."""
    transport, route = KafkaTransport(connection(kafka.address)), a_route()
    admin = AdminClient({"bootstrap.servers": kafka.address.removeprefix("kafka://")})
    topic = NewTopic(route.name, num_partitions=1, config={"cleanup.policy": "compact"})
    admin.create_topics([topic])[route.name].result(30)
    try:
        with pytest.raises(TransportError, match=r"(?i)invalid record|validat"):
            await transport.publish([(route, b"1")])
        found = [
            one for one in await transport.check([route, a_route()]) if route.name in one.found
        ]
    finally:
        await transport.close()

    assert [one.verdict for one in found] == ["wrong"]
    assert "is compacted" in found[0].found


async def test_a_message_that_the_cluster_takes_not_harms_no_other(kafka: KafkaBroker) -> None:
    transport, route = KafkaTransport(connection(kafka.address)), a_route()
    try:
        found = await transport.publish([(route, b"7" * 100_000_000), (route, b"1")])
    finally:
        await transport.close()

    assert found == [False, True]


def test_a_days_messages_replayed_and_shuffled_start_nothing(
    site: Site, kafka: KafkaBroker
) -> None:
    """While new jobs run: the topic has all that was ever sent."""
    done = site.directory / "done"
    done.write_text("")
    command = f"echo $WEFT_JOB >> {done}"
    before = site.submit(N_REPLAYED, command)
    until(lambda: site.status(before) == "success")
    batch = site.submit(N_REPLAYED, f"sleep 0.05; {command}")
    until(lambda: len(done.read_text().split()) > N_REPLAYED)
    for seed in (1, 2):
        replay(kafka, seed)
    until(lambda: site.status(batch) == "success")
    n_sent = replay(kafka, 3)
    last = site.run("run", "--queue", "q", "--", "true")
    asyncio.run(emptied(kafka))
    ran = done.read_text().split()
    site.prove_audit()

    assert n_sent >= 2 * N_REPLAYED
    assert last.returncode == 0, last.stderr
    assert len(ran) == len(set(ran)) == 2 * N_REPLAYED


def replay(kafka: KafkaBroker, seed: int) -> int:
    """Write all records of the queue once more, in any order; return how many there were."""
    to = {"bootstrap.servers": kafka.address.removeprefix("kafka://")}
    consumer, name = Consumer({**to, "group.id": "nobody"}), Route("default", "q").name
    left = 0
    for number in consumer.list_topics(name, 30).topics[name].partitions:
        at = TopicPartition(name, number, OFFSET_BEGINNING)
        low, high = consumer.get_watermark_offsets(at, timeout=30)
        left += high - low
        consumer.incremental_assign([at])
    bodies: list[bytes] = []
    while len(bodies) < left:
        bodies += [one.value() or b"" for one in consumer.consume(1000, 1) if not one.error()]
    consumer.close()
    random.Random(seed).shuffle(bodies)  # noqa: S311 (an order)
    producer = Producer(to)
    for body in bodies:
        producer.produce(name, body)
    assert producer.flush(60) == 0
    return len(bodies)


async def emptied(kafka: KafkaBroker) -> None:
    """Wait until the workers are through with all records of the queue."""
    transport = KafkaTransport(connection(kafka.address))
    async with asyncio.timeout(120):
        while (await transport.depths([Route("default", "q")]))[0].messages:
            pass
    await transport.close()


def test_a_rebalance_every_5_seconds_loses_and_doubles_no_job(
    site: Site, kafka: KafkaBroker
) -> None:
    """Somebody joins the group, gets records, does nothing with them and leaves."""
    done = site.directory / "done"
    done.write_text("")
    is_over = threading.Event()
    joins: list[int] = []

    async def disturb() -> None:
        transport = KafkaTransport(connection(kafka.address))
        while not is_over.is_set():
            with contextlib.suppress(TransportError):
                async with transport.consume(Route("default", "q"), limit=10) as deliveries:
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(REBALANCE_S):
                            async for _ in deliveries:
                                pass
                joins.append(1)
            await asyncio.to_thread(is_over.wait, REBALANCE_S)
        await transport.close()

    thread = threading.Thread(target=lambda: asyncio.run(disturb()))
    thread.start()
    try:
        batch = site.submit(N_JOBS, f"echo $WEFT_JOB >> {done}")
        for part in range(1, N_PARTS + 1):
            until(lambda n=part: len(done.read_text().split()) >= N_JOBS * n // N_PARTS)  # type: ignore[misc]
        until(lambda: site.status(batch) == "success")
    finally:
        is_over.set()
        thread.join()
    ran = done.read_text().split()
    site.prove_audit()

    assert len(ran) == len(set(ran)) == N_JOBS
    assert joins
