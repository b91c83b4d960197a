"""One member of a group of consumers.

    poll ──▶ delivered (watermark) ──▶ queue of the event loop ──▶ acknowledged
      ▲                                                                 │
      └──────────── position, committed twice a second ◀── done ◀───────┘

A partition's position passes a record when all before it are done, too; what lies behind comes
again to the next owner. The thread never waits for work: when much is in flight it pauses its
partitions and goes on polling, so the group keeps it. It alone calls the consumer.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from weft.core.consumer_limits import AHEAD
from weft.core.watermark import Watermark
from weft.ports.transport import ASSIGNOR, REFUSED, Death, TransportError, read_refusal
from weft.telemetry import metrics
from weft.telemetry.log import log
from weft_brokers.kafka.config import Failures

POLL_S: Final = 0.1
COMMIT_S: Final = 0.5
"""Between two commits of what is done."""
POLL_MAX_S: Final = 900
"""A member that does not poll for this time is put out of the group."""
SESSION_S: Final = 10
"""After this time the partitions of a member that was killed are another's."""
STUCK: Final = 10_000
"""So many records done behind one that is not are worth a warning."""
HELD_S: Final = 5.0
"""A record that has waited here for this time is passed on to another member."""
PASSING: Final = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._PARTITION_EOF,  # noqa: SLF001 (the library's names)
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
    KafkaError._TRANSPORT,  # noqa: SLF001
    KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError._MAX_POLL_EXCEEDED,  # noqa: SLF001
    KafkaError._TIMED_OUT,  # noqa: SLF001
}
"""librdkafka goes on by itself."""


class Consumption(NamedTuple):
    """What to consume, and how."""

    config: Mapping[str, Any]
    topic: str
    limit: int
    failures: Failures
    pass_on: Callable[[bytes, Collection[int]], Awaitable[bool]] | None
    """Put a body into another partition of the topic than these; return whether there is one.
    None: nothing is passed on.
    """
    refuse: Callable[[bytes, str], Awaitable[bool]] | None = None
    """Write a body to the dead ones of the tenant, with why; return whether it is kept."""
    group: str | None = None
    """None: it has the topic's name."""
    assignor: str = ASSIGNOR


@dataclass(eq=False)
class _Partition:
    """A partition, from the time when this member has got it until it has lost it."""

    mark: Watermark = field(default_factory=Watermark)
    committed: int | None = None
    stuck_at: int | None = None
    """The offset that was named last because it holds up others."""
    is_lost: bool = False


class KafkaDelivery:
    """A record that is not done."""

    def __init__(
        self, message: Message, offset: int, partition: _Partition, member: "_Member"
    ) -> None:
        self.message = message
        self._offset = offset
        self._partition = partition
        self._member = member

    @property
    def body(self) -> bytes:
        return self.message.value() or b""

    @property
    def is_lost(self) -> bool:
        """Say whether its partition is another member's, which has got it."""
        return self._partition.is_lost

    async def acknowledge(self) -> None:
        self.finish()

    def finish(self) -> None:
        """Note that it is done, at once."""
        self.end()
        self._member.room.release()

    async def give_back(self) -> None:
        """Pass it on to another member; where there is none, it comes again."""
        if not await self._member.pass_on(self):
            self._member.come.put_nowait(self)
        self._member.room.release()

    async def refuse(self, why: str) -> None:
        """Write it to the dead ones, and note that it is done."""
        if not await self._member.refuse(self.body, why):
            raise TransportError("a dead message was not confirmed")
        self.finish()

    @property
    def death(self) -> Death:
        found = {key: (value or b"").decode(errors="replace") for key, value in self._headers()}
        return read_refusal(found) or Death(REFUSED, "")

    def _headers(self) -> Sequence[tuple[str, bytes | None]]:
        found: Any = self.message.headers() or ()
        return found  # type: ignore[no-any-return]

    def end(self) -> None:
        """Let the position pass it."""
        self._member.done.put((self._partition, self._offset))


class _Room:
    """The places for records in work, for one who waits."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._n_taken = 0
        self._changed = asyncio.Event()

    async def enter(self) -> None:
        """Wait for a place and take it."""
        while self._n_taken >= self.limit:
            self._changed.clear()
            await self._changed.wait()
        self._n_taken += 1

    def release(self) -> None:
        """Free a place."""
        self._n_taken -= 1
        self._changed.set()

    def allow(self, limit: int) -> None:
        """Have this number of places."""
        self.limit = limit
        self._changed.set()


class _Member:
    """The thread of one member, and what it shares with the event loop."""

    def __init__(self, consumption: Consumption) -> None:
        self._consumption = consumption
        self._group = consumption.group or consumption.topic
        self._loop = asyncio.get_running_loop()
        self.room = _Room(consumption.limit)
        self.come: asyncio.Queue[KafkaDelivery | TransportError] = asyncio.Queue()
        self.done: SimpleQueue[tuple[_Partition, int]] = SimpleQueue()
        self._owned: dict[int, _Partition] = {}
        """By number; only the thread changes it."""
        self._paused: set[int] = set()
        self._commit_s = 0.0
        self._is_ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kafka", daemon=True)

    def start(self) -> None:
        """Join the group."""
        self._thread.start()

    def end(self) -> None:
        """Commit what is done and leave the group; wait for that."""
        self._is_ending.set()
        self._thread.join()

    async def pass_on(self, delivery: KafkaDelivery) -> bool:
        """Put a record into a partition of another member; return whether there is one."""
        pass_on = self._consumption.pass_on
        if pass_on is None or not await pass_on(delivery.body, list(self._owned)):
            return False
        delivery.end()
        return True

    async def refuse(self, body: bytes, why: str) -> bool:
        """Write a body to the dead ones; return whether it is kept."""
        refuse = self._consumption.refuse
        return refuse is not None and await refuse(body, why)

    def _run(self) -> None:
        try:
            consumer = Consumer(
                {
                    **self._consumption.config,
                    "group.id": self._group,
                    "partition.assignment.strategy": self._consumption.assignor,
                    "auto.offset.reset": "earliest",
                    "enable.auto.commit": False,
                    "enable.auto.offset.store": False,
                    "max.poll.interval.ms": POLL_MAX_S * 1000,
                    "session.timeout.ms": SESSION_S * 1000,
                    "topic.metadata.refresh.interval.ms": 5000,
                    "on_commit": self._committed,
                }
            )
        except KafkaException as error:
            self._tell(self._error(error))
            return
        try:
            consumer.subscribe(
                [self._consumption.topic],
                on_assign=self._assigned,
                on_revoke=self._revoked,
                on_lost=self._lost,
            )
            while not self._is_ending.is_set():
                self._round(consumer)
            self._finish()
            self._commit(consumer, self._owned, wait=True)
        except KafkaException as error:
            self._tell(self._error(error))
        finally:
            consumer.close()

    def _round(self, consumer: Consumer) -> None:
        if not self._paused:
            self._await_room()
        self._pace(consumer, is_full=self._is_full())
        if (first := consumer.poll(POLL_S)) is not None:
            for message in (first, *consumer.consume(AHEAD, 0)):
                self._deliver(message)
        self._finish()
        if time.monotonic() >= self._commit_s + COMMIT_S:
            self._commit(consumer, self._owned, wait=False)
            self._count(consumer)

    def _is_full(self) -> bool:
        in_flight = sum(len(one.mark) for one in self._owned.values())
        return in_flight >= self.room.limit + AHEAD

    def _await_room(self) -> None:
        """Wait for a moment while too much is in flight: a pause drops what was fetched already,
        so with short work it would take longer than the work.
        """
        until = time.monotonic() + POLL_S
        while self._is_full() and (left_s := until - time.monotonic()) > 0:
            with suppress(Empty):
                partition, offset = self.done.get(timeout=left_s)
                partition.mark.finish(offset)

    def _pace(self, consumer: Consumer, *, is_full: bool) -> None:
        """Pause partitions while too much is in flight."""
        owned = set(self._owned)
        if is_full and (new := owned - self._paused):
            consumer.pause([self._at(number) for number in new])
            self._paused = owned
        elif not is_full and self._paused:
            consumer.resume([self._at(number) for number in self._paused & owned])
            self._paused = set()

    def _deliver(self, message: Message) -> None:
        if (error := message.error()) is not None:
            if error.code() not in PASSING:
                raise KafkaException(error)
            return
        number, offset = message.partition(), message.offset()
        assert number is not None
        assert offset is not None
        partition = self._owned.setdefault(number, _Partition())
        if not partition.mark.deliver(offset):
            # The topic has been deleted and made again, or the position set back.
            partition.is_lost = True
            partition = self._owned[number] = _Partition()
            partition.mark.deliver(offset)
        self._tell(KafkaDelivery(message, offset, partition, self))

    def _tell(self, news: KafkaDelivery | TransportError) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.come.put_nowait, news)

    def _error(self, error: KafkaException) -> TransportError:
        return TransportError(self._consumption.failures.reason(error))

    def _at(self, number: int, offset: int = OFFSET_INVALID) -> TopicPartition:
        return TopicPartition(self._consumption.topic, number, offset)

    def _finish(self) -> None:
        while True:
            try:
                partition, offset = self.done.get_nowait()
            except Empty:
                return
            partition.mark.finish(offset)

    def _commit(self, consumer: Consumer, owned: Mapping[int, _Partition], *, wait: bool) -> None:
        """Commit what has moved. What is refused, because partitions change hands or the broker
        is away, is tried again with the next commit.
        """
        self._commit_s = time.monotonic()
        moved = {
            number: position
            for number, one in owned.items()
            if (position := one.mark.position) is not None and position != one.committed
        }
        if not moved:
            return
        offsets = [self._at(number, position) for number, position in moved.items()]
        for number, position in moved.items():
            owned[number].committed = position
            topic = self._consumption.topic
            metrics.TOPIC_COMMITS.labels(self._group, topic, str(number)).inc()
        try:
            if wait:
                consumer.commit(offsets=offsets, asynchronous=False)
            else:
                consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException:
            for number in moved:
                owned[number].committed = None

    def _count(self, consumer: Consumer) -> None:
        """Show what is with the partitions, as far as this is known without asking."""
        for number, one in self._owned.items():
            labels = (self._group, self._consumption.topic, str(number))
            smallest = one.mark.smallest
            if smallest is not None and smallest != one.stuck_at and one.mark.held_up >= STUCK:
                one.stuck_at = smallest
                log.warning(
                    "transport.stuck",
                    group=self._group,
                    topic=self._consumption.topic,
                    partition=number,
                    offset=smallest,
                    behind=one.mark.held_up,
                )
            metrics.TOPIC_IN_FLIGHT.labels(*labels).set(len(one.mark))
            metrics.TOPIC_SMALLEST.labels(*labels).set(-1 if smallest is None else smallest)
            if one.mark.position is not None:
                _, end = consumer.get_watermark_offsets(self._at(number), cached=True)
                metrics.TOPIC_LAG.labels(*labels).set(max(0, end - one.mark.position))

    def _committed(self, error: KafkaError | None, offsets: Sequence[TopicPartition]) -> None:
        """Take back what was noted as committed and was not."""
        for offset in offsets:
            if (error is not None or offset.error is not None) and offset.partition in self._owned:
                self._owned[offset.partition].committed = None

    def _assigned(self, _: Consumer, partitions: Sequence[TopicPartition]) -> None:
        for partition in partitions:
            self._owned[partition.partition] = _Partition()

    def _revoked(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Commit what is done of these, and forget them: the next owner gets the rest again."""
        self._finish()
        numbers = {partition.partition for partition in partitions} & self._owned.keys()
        self._commit(consumer, {number: self._owned[number] for number in numbers}, wait=True)
        self._lost(consumer, partitions)

    def _lost(self, _: Consumer, partitions: Sequence[TopicPartition]) -> None:
        for one in partitions:
            self._paused.discard(one.partition)
            if (partition := self._owned.pop(one.partition, None)) is not None:
                partition.is_lost = True
                labels = (self._group, self._consumption.topic, str(one.partition))
                for gauge in (metrics.TOPIC_IN_FLIGHT, metrics.TOPIC_SMALLEST, metrics.TOPIC_LAG):
                    with suppress(KeyError):  # it was not shown yet
                        gauge.remove(*labels)


@asynccontextmanager
async def consuming(consumption: Consumption) -> AsyncIterator["KafkaDeliveries"]:
    """Be a member of the group as long as the context lasts."""
    member = _Member(consumption)
    wanted: asyncio.Queue[KafkaDelivery | TransportError] = asyncio.Queue()
    member.start()
    letting_in = asyncio.create_task(_let_in(member, wanted))
    try:
        yield KafkaDeliveries(member, wanted)
    finally:
        letting_in.cancel()
        await asyncio.shield(asyncio.to_thread(member.end))


class KafkaDeliveries:
    """What comes to a member, as there is room for it."""

    def __init__(
        self, member: _Member, wanted: "asyncio.Queue[KafkaDelivery | TransportError]"
    ) -> None:
        self._member = member
        self._wanted = wanted

    def __aiter__(self) -> "KafkaDeliveries":
        return self

    async def __anext__(self) -> KafkaDelivery:
        one = await self._wanted.get()
        if isinstance(one, TransportError):
            raise one
        return one

    async def allow(self, limit: int) -> None:
        self._member.room.allow(limit)


async def _let_in(
    member: _Member, wanted: "asyncio.Queue[KafkaDelivery | TransportError]"
) -> None:
    """Let in what comes, as there is room for it, up to the first failure."""
    try:
        while True:
            one = await member.come.get()
            if isinstance(one, TransportError):
                raise one
            if not one.is_lost and await _has_room(member, one):
                wanted.put_nowait(one)
    except TransportError as error:
        wanted.put_nowait(error)


async def _has_room(member: _Member, delivery: KafkaDelivery) -> bool:
    """Wait for room; return False if the record is another member's before there is any."""
    while True:
        try:
            async with asyncio.timeout(HELD_S):
                await member.room.enter()
                return True
        except TimeoutError:
            if delivery.is_lost or await member.pass_on(delivery):
                return False
