"""The transport `kafka` on a real broker, and a whole weft beside it. Records of one key stay in
order, whatever the broker does while they are written.
"""

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import cast
from uuid import uuid4

import pytest
from structlog.testing import capture_logs

from contexts import fixture_of
from servers.on_this_host import script_of
from transports.kafka_broker import KafkaBroker
from transports.site import Site, check_that_a_kill_harms_nothing, weft_beside
from weft.ports.topics import Arrival, Positions, Record
from weft.ports.transport import Connection, Delivery, Route, TransportError
from weft_testing.transport_suite import TransportSuite, a_route, following

pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewPartitions, NewTopic

from weft_brokers.kafka import KafkaTransport
from weft_brokers.kafka.consumer import STUCK, KafkaDelivery
from weft_brokers.kafka.topics import KafkaTopics

pytestmark = [pytest.mark.engine(name="kafka"), pytest.mark.timeout(300)]
CONNECTION = """
[[transports]]
name = "kafka"
kind = "kafka"
address = "{address}"
tenants = ["default"]
"""


def connection(address: str, *, password: str = "") -> Connection:
    """Return the connection to a broker."""
    return Connection(
        name="kafka",
        kind="kafka",
        address=address,
        tenants=("home",),
        user="weft",
        password=password,
    )


class TestKafkaTransport(TransportSuite):
    """The suite of the port."""

    is_partitioned = True

    @pytest.fixture(autouse=True)
    def at(self, kafka: KafkaBroker) -> None:
        """Note the broker."""
        self.broker = kafka

    def transport(self) -> KafkaTransport:
        """Return a transport to the broker."""
        return KafkaTransport(connection(self.broker.address))


@pytest.fixture
async def transport(kafka: KafkaBroker) -> AsyncIterator[KafkaTransport]:
    """Give a transport to the broker."""
    found = KafkaTransport(connection(kafka.address))
    yield found
    await found.close()


async def test_a_password_opens_and_a_wrong_one_is_refused(kafka: KafkaBroker) -> None:
    good = KafkaTransport(connection(kafka.password_address, password="weft"))
    wrong = KafkaTransport(connection(kafka.password_address, password="wrong"))
    try:
        assert await good.publish([(a_route(), b"1")]) == [True]
        with pytest.raises(TransportError, match="Authentication failed"):
            await wrong.publish([(a_route(), b"1")])
    finally:
        await good.close()
        await wrong.close()


@pytest.mark.parametrize("needs_password", [False, True])
async def test_a_check_tells_the_release_of_the_broker(
    kafka: KafkaBroker, *, needs_password: bool
) -> None:
    address = kafka.password_address if needs_password else kafka.address
    transport = KafkaTransport(connection(address, password="weft" * needs_password))
    installed = re.search(r"^VERSION=(\d+\.\d+)", script_of("Kafka").read_text(), re.MULTILINE)
    first, *_ = await transport.check()

    assert installed is not None
    assert first.found == f"Kafka {installed[1]} with 1 broker"


@pytest.mark.parametrize("address", ["127.0.0.1:9092", "amqp://127.0.0.1:9092", "kafka://"])
async def test_an_address_of_another_kind_is_refused(address: str) -> None:
    with pytest.raises(TransportError, match="is not kafka://HOST:PORT"):
        await KafkaTransport(connection(address)).publish([(Route("home", "q"), b"1")])


async def test_what_was_done_out_of_order_comes_again_behind_what_was_not(
    transport: KafkaTransport,
) -> None:
    """The position of a partition stays at its first record that is not done."""
    route = a_route()
    await transport.publish([(route, f"{n:03}".encode()) for n in range(100)])
    async with transport.consume(route, limit=100) as deliveries:
        come = [await following(deliveries) for _ in range(100)]
        kept = come[::10]
        for one in reversed(come):
            if one not in kept:
                await one.acknowledge()
    async with transport.consume(route, limit=100) as deliveries:
        again = [await following(deliveries)]
        while {one.body for one in kept} - {one.body for one in again}:
            again.append(await following(deliveries))

    assert len(again) < 100


async def test_a_topic_that_was_deleted_is_made_again(
    transport: KafkaTransport, kafka: KafkaBroker
) -> None:
    """Records of the new topic that lie before the position in the old one are passed over: what
    nobody claims is sent again, as the driver does.
    """
    route = a_route()
    admin = AdminClient({"bootstrap.servers": kafka.address.removeprefix("kafka://")})
    await transport.publish([(route, b"before")])
    async with transport.consume(route, limit=10) as deliveries:
        await (await following(deliveries)).acknowledge()
        await asyncio.to_thread(admin.delete_topics([route.name])[route.name].result)
        bodies: set[bytes] = set()
        for n in range(10):
            # A message that is not confirmed is sent again, as the driver does.
            bodies.add(body := f"{n}".encode())
            await published(transport, route, body)
        while bodies:
            try:
                one = await following(deliveries)
            except TimeoutError:
                for body in bodies:
                    await published(transport, route, body)
                continue
            await one.acknowledge()
            bodies.discard(one.body)


async def test_a_topic_is_followed_once_it_is_there(kafka: KafkaBroker) -> None:
    """A worker that followed none of its partitions would never hear of outcomes."""
    topics = KafkaTopics(connection(kafka.address))
    name = a_route().name
    with pytest.raises(TransportError, match=f"{name} is not there yet"):
        async with topics.follow([name], Positions()):
            pass
    await topics.make({name: 1})
    async with asyncio.timeout(60):
        while True:
            with suppress(TransportError):
                async with topics.follow([name], Positions()) as arrivals:
                    await topics.publish([Record(name, "key", b"value", {})])
                    come = await anext(arrivals)
                    break
    await topics.close()

    assert come.value == b"value"


async def test_partitions_that_a_topic_gains_are_read(kafka: KafkaBroker) -> None:
    """From their first records on, also those that it gained while nobody followed."""
    admin = AdminClient({"bootstrap.servers": kafka.address.removeprefix("kafka://")})
    topics, writing = (KafkaTopics(connection(kafka.address)) for _ in range(2))
    name, positions = a_route().name, Positions()

    async def gain(count: int) -> None:
        asked = admin.create_partitions([NewPartitions(name, count)])
        await asyncio.to_thread(asked[name].result, 30)

    async def come_from(arrivals: AsyncIterator[Arrival], count: int) -> None:
        async with asyncio.timeout(60):
            seen: set[int] = set()
            while len(seen) < count:
                one = await anext(arrivals)
                one.acknowledge()
                seen.add(one.at.partition)

    async def write() -> None:
        records = [Record(name, f"{n}", b"value", {}) for n in range(64)]
        assert all(await writing.publish(records))

    await topics.make({name: 1})
    async with (
        topics.follow([name], positions) as followed,
        topics.consume("a-group", name, limit=100) as shared,
    ):
        await topics.publish([Record(name, "key", b"value", {})])
        await come_from(followed, 1)
        await come_from(shared, 1)
        await gain(3)
        await write()
        await come_from(followed, 3)
        await come_from(shared, 3)
    await gain(5)
    await writing.close()  # so that it asks for the partitions at once
    await write()
    async with topics.follow([name], positions) as followed:
        await come_from(followed, 5)
    await topics.close()
    await writing.close()


async def test_members_that_share_step_by_step_keep_what_they_have(kafka: KafkaBroker) -> None:
    """Of the records in work only those come again whose partitions are another's."""
    to = replace(connection(kafka.address), assignor="cooperative-sticky")
    one, other, route = KafkaTransport(to), KafkaTransport(to), a_route()
    await one.publish([(route, f"{n:02}".encode()) for n in range(60)])
    async with one.consume(route, limit=60) as first:
        come = [cast("KafkaDelivery", await following(first)) for _ in range(60)]
        async with other.consume(route, limit=60) as second:
            theirs = [await following(second)]
            while {x.body for x in come if x.is_lost} - {x.body for x in theirs}:
                theirs.append(await following(second))
            kept = [x for x in come if not x.is_lost]
            for x in (*kept, *theirs):
                await x.acknowledge()
    (depth,) = await one.depths([route])
    await one.close()
    await other.close()

    assert kept
    assert len(kept) + len(theirs) == 60
    assert depth.messages == 0


async def test_a_record_that_holds_up_very_many_is_named(kafka: KafkaBroker) -> None:
    topics, name = KafkaTopics(connection(kafka.address)), a_route().name
    await topics.make({name: 1})
    with capture_logs() as logs:
        async with topics.consume("a-group", name, limit=2 * STUCK) as arrivals:
            await topics.publish([Record(name, "", b"", {})] * (STUCK + 1))
            first = await anext(arrivals)
            for _ in range(STUCK):
                (await anext(arrivals)).acknowledge()
            async with asyncio.timeout(60):
                while not (named := [x for x in logs if x["event"] == "transport.stuck"]):
                    await asyncio.sleep(0)
            first.acknowledge()
    await topics.close()

    assert [(x["topic"], x["offset"], x["behind"]) for x in named] == [(name, 0, STUCK)]


async def published(transport: KafkaTransport, route: Route, body: bytes) -> None:
    """Send a message until it is confirmed."""
    async with asyncio.timeout(60):
        while True:
            try:
                if await transport.publish([(route, body)]) == [True]:
                    return
            except TransportError:
                continue


async def test_a_killed_consumer_leaves_its_records_to_the_next(
    transport: KafkaTransport, kafka: KafkaBroker
) -> None:
    route = a_route()
    await transport.publish([(route, f"{n:02}".encode()) for n in range(20)])
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CONSUMER, kafka.address, *route, stdout=subprocess.PIPE
    )
    assert killed.stdout is not None
    done = {(await killed.stdout.readline()).strip() for _ in range(5)}
    killed.kill()
    await killed.wait()
    wanted = {f"{n:02}".encode() for n in range(20)} - done
    async with transport.consume(route, limit=20) as deliveries:
        while wanted:
            one: Delivery = await following(deliveries)
            wanted.discard(one.body)
            await one.acknowledge()


CONSUMER = """
import asyncio, sys
from weft_brokers.kafka import KafkaTransport
from weft.ports.transport import Connection, Route

async def consume(address, *route):
    to = Connection(name="kafka", kind="kafka", address=address, tenants=())
    async with KafkaTransport(to).consume(Route(*route), limit=10) as deliveries:
        for _ in range(5):
            one = await anext(deliveries)
            await one.acknowledge()
            print(one.body.decode(), flush=True)
        await asyncio.Event().wait()

asyncio.run(consume(*sys.argv[1:]))
"""
site = fixture_of(
    lambda kafka, tmp_path: weft_beside(
        tmp_path, "kafka", CONNECTION.format(address=kafka.address)
    )
)
"""A weft whose queue `q` travels over the broker."""


def test_a_command_goes_out_by_the_broker_and_comes_back(site: Site) -> None:
    ran = site.run("run", "--queue", "q", "--", "sh", "-c", "echo out; exit 3")

    assert (ran.returncode, ran.stdout) == (3, "out\n"), ran.stderr


@pytest.mark.parametrize("fault", ["broker", "worker", "driver"])
def test_a_kill_in_between_loses_and_doubles_nothing(
    site: Site, kafka: KafkaBroker, fault: str
) -> None:
    check_that_a_kill_harms_nothing(site, kafka, fault)


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
        name,
        num_partitions=N_PARTITIONS,
        config={"min.insync.replicas": str(replicas_min)},
    )
    admin.create_topics([topic])[name].result(30)
    return name


def refuse_and_take(kafka: KafkaBroker, topic: str) -> None:
    """Let the topic refuse records for a moment, some times: it has one replica."""
    admin = AdminClient({"bootstrap.servers": kafka.address.removeprefix("kafka://")})
    for n in [1, 2] * N_MOMENTS + [1]:
        entry = ConfigEntry(
            "min.insync.replicas", str(n), incremental_operation=AlterConfigOpType.SET
        )
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
