"""The topics of other programs, on librdkafka. It must not know what records say."""

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final, cast

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic as Topic

from weft.core.consumer_limits import AHEAD, OUTCOMES_MAX
from weft.ports.topics import Arrival, Positions, Record, RecordAt
from weft.ports.transport import Connection, TransportError
from weft_brokers.kafka.config import Failures, config_of
from weft_brokers.kafka.consumer import PASSING, Consumption, consuming

_CALL_S: Final = 10.0
_POLL_S: Final = 0.1
_LOOK_S: Final = 5.0
"""Between two looks whether topics have gained partitions."""


class KafkaTopics:
    """One cluster; see the port for the methods."""

    def __init__(self, connection: Connection) -> None:
        self._to = connection
        self._failures = Failures()
        self._producer: Producer | None = None
        self._made: set[str] = set()
        """Topics that are known to be there."""

    async def make(self, partitions: Mapping[str, int]) -> None:
        if new := {name: n for name, n in partitions.items() if name not in self._made}:
            await asyncio.to_thread(make_topics, self._to, new)
            self._made |= new.keys()

    async def publish(self, records: Sequence[Record]) -> Sequence[bool]:
        """Write with the partitioner of Java's client, so that a key has one partition whoever
        writes it.

        What a call leaves unconfirmed is never written later: whoever writes the records of a key
        again, from the first of those on, keeps their order.
        """
        if self._producer is None:
            self._producer = Producer(
                {
                    **config_of(self._to, self._failures),
                    "acks": "all",
                    # Else a set that is sent again comes behind those that were sent meanwhile.
                    "enable.idempotence": True,
                    "partitioner": "murmur2_random",
                    "linger.ms": 5,
                    # One record must not be given up while those behind it go on.
                    "message.timeout.ms": 0,
                }
            )
        producer = self._producer
        kept = await asyncio.to_thread(_publish, producer, records)
        if not all(kept):
            # An idempotent producer may be in a state from which only another one helps.
            self._producer = None if self._producer is producer else self._producer
            self._made.clear()  # so that topics which somebody has deleted are made again
        if records and not any(kept):
            raise TransportError(f"nothing was confirmed: {self._failures.last}")
        return kept

    @asynccontextmanager
    async def consume(
        self, group: str, topic: str, *, limit: int
    ) -> AsyncIterator[AsyncIterator[Arrival]]:
        failures = Failures()
        config = config_of(self._to, failures)
        async with consuming(
            Consumption(
                config, topic, limit, failures, None, group=group, assignor=self._to.assignor
            )
        ) as deliveries:

            async def arrivals() -> AsyncIterator[Arrival]:
                async for delivery in deliveries:
                    yield _arrival(delivery.message, delivery.finish)

            yield arrivals()

    @asynccontextmanager
    async def follow(
        self, topics: Collection[str], since: Positions
    ) -> AsyncIterator[AsyncIterator[Arrival]]:
        """Read all partitions, as a member of no group."""
        follower = _Follower(self._to, topics, since)
        await asyncio.to_thread(follower.begin)
        try:
            yield follower.arrivals()
        finally:
            await asyncio.shield(asyncio.to_thread(follower.end))

    async def close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await asyncio.to_thread(producer.flush, 1.0)


def make_topics(to: Connection, partitions: Mapping[str, int]) -> dict[str, int]:
    """Make the topics that there are not; return how many partitions each has."""
    failures = Failures()
    admin = AdminClient(config_of(to, failures))
    try:
        known = admin.list_topics(timeout=_CALL_S).topics
        if new := [
            Topic(name, num_partitions=n) for name, n in partitions.items() if name not in known
        ]:
            for future in admin.create_topics(new, request_timeout=_CALL_S).values():
                try:
                    future.result(_CALL_S + 1)
                except KafkaException as error:
                    if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                        raise
            known = admin.list_topics(timeout=_CALL_S).topics
    except (KafkaException, TimeoutError, OSError) as error:
        admin.poll(0)  # for the callback
        raise TransportError(failures.reason(error)) from error
    return {
        name: len(known[name].partitions) if name in known else n for name, n in partitions.items()
    }


class _Follower:
    """The thread that reads, and what it shares with the event loop."""

    def __init__(self, to: Connection, topics: Collection[str], since: Positions) -> None:
        self._failures = Failures()
        self._topics = topics
        self._since = since
        self._read: set[tuple[str, int]] = set()
        """Topics and the numbers of their partitions; after `begin` only the thread changes it."""
        self._looked_s = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._come: asyncio.Queue[Arrival | TransportError] = asyncio.Queue()
        self._room = threading.Semaphore(OUTCOMES_MAX)
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka", daemon=True)
        self._consumer = Consumer(
            {
                **config_of(to, self._failures),
                "group.id": f"weft.follows.{uuid.uuid4()}",  # it has to have one, and joins none
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )

    def begin(self) -> None:
        """Find where to begin, and read from there on. Raise `TransportError`."""
        try:
            self._find_positions()
        except KafkaException as error:
            self._consumer.close()
            raise TransportError(self._failures.reason(error)) from error
        except TransportError:
            self._consumer.close()
            raise
        self._thread.start()

    def _find_positions(self) -> None:
        known = self._consumer.list_topics(timeout=_CALL_S).topics
        followed = {topic for topic, _ in self._since}
        for topic in self._topics:
            if topic not in known or not known[topic].partitions:
                # Made a moment ago: not every broker knows it yet.
                raise TransportError(f"the topic {topic} is not there yet")
            for number in known[topic].partitions:
                if (topic, number) not in self._since:
                    at = TopicPartition(topic, number)
                    begin, end = self._consumer.get_watermark_offsets(at, timeout=_CALL_S)
                    self._since[topic, number] = begin if topic in followed else end
        self._read = {*self._since}
        self._consumer.assign([TopicPartition(*at, offset) for at, offset in self._since.items()])

    def _follow_new(self) -> None:
        """Read partitions that topics have gained, from their first records on."""
        if time.monotonic() < self._looked_s + _LOOK_S:
            return
        try:
            known = self._consumer.list_topics(timeout=_CALL_S).topics
        except KafkaException:
            return  # the next look may find them
        finally:
            self._looked_s = time.monotonic()
        there = {
            (topic, n) for topic in self._topics if topic in known for n in known[topic].partitions
        }
        if new := there - self._read:
            self._read |= new
            self._consumer.incremental_assign(
                [TopicPartition(*at, OFFSET_BEGINNING) for at in sorted(new)]
            )

    def end(self) -> None:
        """Stop reading; wait for that."""
        self._is_ending.set()
        self._thread.join()
        self._consumer.close()

    async def arrivals(self) -> AsyncIterator[Arrival]:
        """Yield what comes."""
        while True:
            one = await self._come.get()
            if isinstance(one, TransportError):
                raise one
            self._room.release()
            self._since[one.at.topic, one.at.partition] = one.at.offset + 1
            yield one

    def _run(self) -> None:
        try:
            while not self._is_ending.is_set():
                self._follow_new()
                if (first := self._consumer.poll(_POLL_S)) is not None:
                    for message in (first, *self._consumer.consume(AHEAD, 0)):
                        if (error := message.error()) is None:
                            self._await_room()
                            self._tell(_arrival(message, _nothing))
                        elif error.code() not in PASSING:
                            self._tell(TransportError(error.str()[:500]))
                            return
        except KafkaException as error:
            self._tell(TransportError(self._failures.reason(error)))

    def _await_room(self) -> None:
        """Read no further while much is not looked at: it is no member, so nobody misses it."""
        while not self._room.acquire(timeout=_POLL_S) and not self._is_ending.is_set():
            pass

    def _tell(self, news: Arrival | TransportError) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._come.put_nowait, news)


def _nothing() -> None:
    pass


def _arrival(message: Message, acknowledge: object) -> Arrival:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    assert callable(acknowledge)
    headers: dict[str, bytes] = {}
    for name, text in cast("Iterable[tuple[str, bytes | None]]", message.headers() or ()):
        headers[name] = text or b""
    return Arrival(
        RecordAt(topic, partition, offset), message.value() or b"", headers, acknowledge
    )


def _publish(producer: Producer, records: Sequence[Record]) -> Sequence[bool]:
    """Write in order; return which are confirmed."""
    kept = [False] * len(records)

    def noting(index: int) -> Callable[[KafkaError | None, Message], None]:
        def note(error: KafkaError | None, _: Message) -> None:
            kept[index] = error is None

        return note

    for index, one in enumerate(records):
        try:
            producer.produce(
                one.topic,
                one.value,
                one.key,
                headers=dict(one.headers),
                on_delivery=noting(index),
            )
        except (BufferError, KafkaException):
            break  # it is written again, with the rest
    if producer.flush(_CALL_S) or not all(kept):
        producer.purge()
        producer.flush(_CALL_S)  # for the callbacks
    return kept
