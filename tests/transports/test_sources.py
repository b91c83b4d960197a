"""Sources and sinks of kind `amqp` and `kafka` on real brokers: sources are read in processes of
their own as a driver does, sinks pass the suite of their port.
"""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from uuid import uuid4

import pytest
import pytest_asyncio

from callbacks.sink_site import site
from e2e.conftest import until
from faults.books import query
from transports.kafka_broker import KafkaBroker
from transports.rabbit_broker import RabbitBroker
from transports.site import weft_beside
from up.weft_up import run_weft
from weft.ports.source import SourceRead, SourceSite
from weft.ports.store.sources import DueSource
from weft.ports.topics import Record
from weft.ports.transport import Connection
from weft.run.isolated.asking.sources import SourceReads
from weft.settings import Settings
from weft_testing.sink_suite import SinkSuite
from weft_testing.source_suite import SourceReader, SourceSuite

pytest.importorskip("aio_pika", reason="the extra `rabbitmq` is not installed")
pytest.importorskip("confluent_kafka", reason="the extra `kafka` is not installed")

import aio_pika
from confluent_kafka import Consumer

from weft_brokers.kafka.topics import KafkaTopics
from weft_brokers.sinks.amqp.sender import AmqpSink
from weft_brokers.sinks.kafka.sender import KafkaSink
from weft_brokers.sources.amqp.reader import AmqpSource
from weft_brokers.sources.kafka.reader import KafkaSource

pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]
BAD = [b"{", b"[1]", b'{"tile": "T"}', b'{"key": "large", "x": "' + b"x" * 70_000 + b'"}']
WHY = ["not JSON", "not a JSON object", "has no key", "more than 64 KiB"]


class Reader:
    """Reads as a driver does: it hands back the cursor of what it has kept."""

    def __init__(self, kind: str, transport: Path, options: Mapping[str, Any]) -> None:
        settings = Settings(transports_file=transport, source_items_max=3)
        self.reads = SourceReads(settings, lambda: pytest.fail("no secret is needed"))
        self.kind, self.options = kind, options
        self.cursor: Mapping[str, Any] | None = None

    def due(self, options: Mapping[str, Any] = MappingProxyType({})) -> DueSource:
        return DueSource(
            1,
            "scenes",
            self.kind,
            {**self.options, **options},
            1.0,
            1,
            self.cursor,
            0,
            {"tenant": "default"},
        )

    async def read(
        self, *, keep: bool = True, options: Mapping[str, Any] = MappingProxyType({})
    ) -> SourceRead:
        found = await self.reads.read(self.due(options))
        if keep and found.error is None:
            self.cursor = found.cursor or self.cursor
        return found

    async def keys(self, *, keep: bool = True) -> list[str]:
        found = await self.read(keep=keep)
        assert found.error is None, found.error
        return [one["key"] for one in found.found]

    def kill(self) -> None:
        """Kill the process that reads."""
        (pid,) = self.reads.pool.pids
        os.killpg(pid, signal.SIGKILL)


def transport(path: Path, kind: str, address: str) -> Path:
    """Write the file of the operator."""
    file = path / "transports.toml"
    password = 'password_env = "SOURCE_PASSWORD"' if kind == "rabbitmq" else ""
    file.write_text(
        f'[[transports]]\nname = "here"\nkind = "{kind}"\naddress = "{address}"\n'
        f'tenants = ["default"]\nsources = ["scenes-*", "gone"]\n{password}\n'
        f'[[transports]]\nname = "other"\nkind = "{kind}"\naddress = "{address}"\n'
        f'tenants = ["x"]\nsources = ["*"]\n'
    )
    return file


def message(key: str) -> bytes:
    return json.dumps({"key": key, "tile": "32TLR"}).encode()


class Queue:
    """A queue that others fill."""

    kind = "amqp"

    def __init__(self, address: str) -> None:
        self.url = address.replace("://", "://guest:guest@")
        self.name = f"scenes-{uuid4().hex}"
        self.options = {"transport": "here", "queue": self.name}

    async def make(self) -> None:
        async with await aio_pika.connect(self.url) as other:
            await (await other.channel()).declare_queue(self.name, durable=True)

    async def put(self, *bodies: bytes) -> None:
        async with await aio_pika.connect(self.url) as other:
            exchange = (await other.channel()).default_exchange
            for body in bodies:
                await exchange.publish(aio_pika.Message(body), self.name)

    async def n_left(self) -> int:
        """Return how many messages the broker still has, also unacknowledged ones."""
        async with await aio_pika.connect(self.url) as other:
            channel = await other.channel()
            found = await channel.declare_queue(self.name, passive=True)
            return int(found.declaration_result.message_count or 0)


class Topic:
    """A topic that others fill."""

    kind = "kafka"

    def __init__(self, address: str) -> None:
        self.topics = KafkaTopics(
            Connection(
                name="t",
                kind="kafka",
                address=address,
                tenants=("default",),
            )
        )
        self.name = f"scenes-{uuid4().hex}"
        self.options = {"transport": "here", "topic": self.name}

    async def make(self) -> None:
        await self.topics.make({self.name: 1})

    async def put(self, *bodies: bytes) -> None:
        records = [Record(self.name, "k", body, {}) for body in bodies]
        assert all(await self.topics.publish(records))


@pytest_asyncio.fixture(params=["amqp", "kafka"])
async def told(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Queue | Topic, Reader]]:
    """Give a queue or a topic, and who reads it."""
    monkeypatch.setenv("SOURCE_PASSWORD", "guest")
    origin: Queue | Topic
    if request.param == "amqp":
        rabbit: RabbitBroker = request.getfixturevalue("rabbit")
        origin = Queue(rabbit.address)
        file = transport(tmp_path, "rabbitmq", rabbit.address)
    else:
        kafka: KafkaBroker = request.getfixturevalue("kafka")
        origin = Topic(kafka.address)
        file = transport(tmp_path, "kafka", kafka.address)
    await origin.make()
    reader = Reader(origin.kind, file, origin.options)
    yield origin, reader
    await reader.reads.close()
    if isinstance(origin, Topic):
        await origin.topics.close()


Told = tuple[Queue | Topic, Reader]


@pytest.mark.engine(name="rabbitmq")
@pytest.mark.engine(name="kafka")
class TestMessages(SourceSuite):
    @pytest.fixture(autouse=True)
    async def _told(self, told: Told) -> AsyncIterator[None]:
        origin, self.asks = told
        self.opened: list[AmqpSource | KafkaSource] = []
        await origin.put(*map(message, "abc"))
        yield
        for one in self.opened:
            await asyncio.to_thread(close, one)

    def reader(self) -> SourceReader:
        source = AmqpSource() if self.asks.kind == "amqp" else KafkaSource()
        self.opened.append(source)
        options = self.asks.reads._of_broker(self.asks.due())
        return SourceReader(source, options, SourceSite(items_max=2))

    def wrong_options(self) -> Mapping[str, Mapping[str, Any]]:
        return {"'gone'": {"queue": "gone", "topic": "gone"}}


def close(source: AmqpSource | KafkaSource) -> None:
    if isinstance(source, KafkaSource):
        source._close()
        return
    source._runner.run(source._close())
    source._runner.close()


@pytest.mark.engine(name="rabbitmq")
@pytest.mark.engine(name="kafka")
async def test_messages_are_items_in_their_order_and_come_once(told: Told) -> None:
    origin, reader = told
    await origin.put(*map(message, "abcde"))
    assert await reader.keys() == [*"abc"]
    assert await reader.keys() == [*"de"]
    assert await reader.keys() == []
    await origin.put(message("f"))
    assert await reader.keys() == ["f"]
    found = await reader.read()
    assert ([*found.found], found.more) == ([], False)


@pytest.mark.engine(name="rabbitmq")
@pytest.mark.engine(name="kafka")
async def test_what_was_not_kept_comes_again(told: Told) -> None:
    """Also if the process dies that has read it."""
    origin, reader = told
    await origin.put(*map(message, "abcd"))
    assert await reader.keys(keep=False) == [*"abc"]
    assert sorted(await reader.keys(keep=False)) == [*"abc"]
    reader.kill()
    failed = await reader.read()
    assert failed.error is not None
    assert sorted(await reader.keys()) == [*"abc"]
    assert await reader.keys() == ["d"]
    assert await reader.keys() == []
    if isinstance(origin, Queue):
        await reader.reads.close()
        assert await origin.n_left() == 0


@pytest.mark.engine(name="rabbitmq")
@pytest.mark.engine(name="kafka")
async def test_bad_messages_are_bad_items_and_hold_up_nobody(told: Told) -> None:
    origin, reader = told
    await origin.put(*BAD, message("good"))
    found = [*(await reader.read()).found, *(await reader.read()).found]
    for one, why in zip(found, WHY, strict=False):
        assert one["fields"] is None
        assert why in one["error"]
    assert found[-1]["key"] == "good"
    assert len({one["key"] for one in found}) == len(BAD) + 1
    assert await reader.keys() == []


@pytest.mark.engine(name="rabbitmq")
@pytest.mark.engine(name="kafka")
async def test_only_what_the_operator_allows_is_read(told: Told) -> None:
    origin, reader = told
    what = "queue" if isinstance(origin, Queue) else "topic"
    for options, said in (
        ({what: "secret"}, "`sources` of transport 'here' does not allow 'secret'"),
        ({what: "weft.default.submissions"}, "does not allow 'weft.default.submissions'"),
        ({"transport": "other"}, "there is no transport 'other' for this tenant"),
        ({what: "gone"}, "gone"),
    ):
        found = await reader.read(options=options)
        assert said in (found.error or "")
    await origin.put(message("a"))
    assert await reader.keys() == ["a"]


@pytest.mark.engine(name="kafka")
async def test_topic_may_be_read_from_now_on(kafka: KafkaBroker, tmp_path: Path) -> None:
    origin = Topic(kafka.address)
    await origin.make()
    await origin.put(message("old"))
    reader = Reader(
        "kafka", transport(tmp_path, "kafka", kafka.address), {**origin.options, "first": "latest"}
    )
    assert await reader.keys() == []
    await origin.put(message("new"))
    assert await reader.keys() == ["new"]
    await asyncio.gather(reader.reads.close(), origin.topics.close())


LINE = """
[source.scenes]
kind = "amqp"
transport = "here"
queue = "QUEUE"
every = "1s"
job = "scene"

[job.scene]
command = ["true"]
"""
ENDED = "SELECT count(*), count(DISTINCT job_id) FROM weft.job WHERE state = 6"
N = 40


@pytest.mark.engine(name="rabbitmq")
def test_each_message_is_one_job_though_the_driver_is_killed(
    rabbit: RabbitBroker, tmp_path: Path
) -> None:
    origin = Queue(rabbit.address)
    asyncio.run(origin.make())
    connection = transport(tmp_path, "rabbitmq", rabbit.address).read_text()
    settings = {"SOURCE_PASSWORD": "guest", "WEFT_SOURCE_ITEMS_MAX": "5"}
    with weft_beside(tmp_path, "here", connection, **settings) as site:
        line = tmp_path / "line.toml"
        line.write_text(LINE.replace("QUEUE", origin.name))
        applied = run_weft("line", "apply", str(line), WEFT_HOME=str(site.home))
        assert applied.returncode == 0, applied.stderr
        asyncio.run(origin.put(*(message(str(n)) for n in range(N))))
        until(lambda: query(site.home, "SELECT count(*) FROM weft.source_item")[0][0] > 0)
        site.kill("driver")
        until(lambda: [*query(site.home, ENDED)[0]] == [N, N])
        keys = "SELECT count(*) FROM weft.source_item WHERE state = 'job'"
        assert query(site.home, keys)[0][0] == N
        # A bad message is an item without a job, and is not sent again.
        asyncio.run(origin.put(b"{"))
        refused = "SELECT reason FROM weft.source_item WHERE state = 'refused'"
        until(lambda: bool(query(site.home, refused)))
        assert query(site.home, refused)[0][0].startswith("the message is not JSON: ")
        site.prove_audit()
    assert asyncio.run(origin.n_left()) == 0


def to(kind: str, address: str) -> Connection:
    return Connection(
        name="here",
        kind=kind,
        address=address,
        tenants=("default",),
        password="guest" if kind == "rabbitmq" else "",
        sinks=("json*", "gone", "weft.*"),
    )


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
        consumer = Consumer(
            {
                "bootstrap.servers": self.boot,
                "group.id": uuid4().hex,
                "auto.offset.reset": "earliest",
                "enable.partition.eof": True,
            }
        )
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
