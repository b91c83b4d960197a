"""The transport `kafka`: topics, one for each queue of a tenant, on librdkafka.

The consumers of a topic are one group, and each partition of it is one consumer's. It must not
know what messages say.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from secrets import choice
from typing import Final, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from weft.core.findings import Finding
from weft.ports import transport
from weft_brokers.kafka import looks
from weft_brokers.kafka.config import Failures, config_of
from weft_brokers.kafka.consumer import Consumption, consuming
from weft_brokers.kafka.topics import make_topics

Found = TypeVar("Found")
PARTITIONS: Final = 12
"""Of a topic that is made here: the most workers that share it."""
_CALL_S: Final = 10.0
_ANY: Final = -1
"""The partition of a message that may go to each."""
_PAUSE_S: Final = 0.1
_PARTITIONS_S: Final = 60.0
"""How long it is believed how many partitions a topic has, when a record is to be passed on."""
_SOON: Final = {
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
}
"""What a cluster answers that has just made a topic or elected somebody: it is asked again."""
_Record = tuple[str, int, bytes, Mapping[str, str]]
"""Topic, partition, body and headers."""


class KafkaTransport:
    """One cluster. The producer is made when it is first needed; each consumer has a connection
    and a thread of its own.
    """

    def __init__(self, connection: transport.Connection) -> None:
        self._to = connection
        self._producer: Producer | None = None
        self._failures = Failures()
        self._partitions: dict[str, int] = {}
        """Of each topic that is known to be there."""
        self._asked_s = time.monotonic()
        """When one was last forgotten, to be asked for anew."""

    async def publish(self, messages: Sequence[tuple[transport.Route, bytes]]) -> Sequence[bool]:
        """Send messages, spread over the partitions of their topics, until all replicas that are
        in step have them.
        """
        return await self._send([(route.name, _ANY, body, {}) for route, body in messages])

    @asynccontextmanager
    async def consume(
        self, route: transport.Route, *, limit: int
    ) -> AsyncIterator[transport.Deliveries]:
        """Consume the topic of a route, as one of the group that has its name."""
        topic, failures = route.name, Failures()

        async def pass_on(body: bytes, owned: Collection[int]) -> bool:
            if time.monotonic() >= self._asked_s + _PARTITIONS_S:
                self._partitions.pop(topic, None)  # it may have gained some
                self._asked_s = time.monotonic()
            await self._make_topics({topic})
            others = sorted(set(range(self._partitions[topic])) - set(owned))
            return bool(others) and all(await self._send([(topic, choice(others), body, {})]))

        async def refuse(body: bytes, why: str) -> bool:
            kept, headers = transport.refusal_of(topic, why, body)
            dead = transport.Route(route.tenant, transport.DEAD).name
            return all(await self._send([(dead, _ANY, kept, headers)]))

        config = config_of(self._to, failures)
        await self._make_topics({topic})
        consumption = Consumption(
            config, topic, limit, failures, pass_on, refuse, assignor=self._to.assignor
        )
        async with consuming(consumption) as deliveries:
            yield deliveries

    async def depths(self, routes: Sequence[transport.Route]) -> Sequence[transport.Depth]:
        """Return the lag and the members of each group."""
        topics = [route.name for route in routes]
        await self._make_topics(set(topics))
        return await asyncio.to_thread(self._look, lambda admin: looks.depths(admin, topics))

    async def check(self, routes: Sequence[transport.Route] = ()) -> Sequence[Finding]:
        """Ask for the cluster, whether a topic could be made, and what those that exist are."""
        topics = [route.name for route in routes]
        return await asyncio.to_thread(
            self._look, lambda admin: looks.check(admin, self._to, topics)
        )

    def _look(self, ask: Callable[[AdminClient], Found]) -> Found:
        """Ask the cluster something. Raise `TransportError`."""
        failures, until = Failures(), time.monotonic() + _CALL_S
        admin = AdminClient(config_of(self._to, failures))
        while True:
            try:
                return ask(admin)
            except (KafkaException, TimeoutError, OSError) as error:
                is_soon = isinstance(error, KafkaException) and error.args[0].code() in _SOON
                if is_soon and time.monotonic() < until:
                    time.sleep(_PAUSE_S)
                    continue
                admin.poll(0)  # for the callback
                raise transport.TransportError(failures.reason(error)) from error

    async def close(self) -> None:
        producer, self._producer = self._producer, None
        self._partitions.clear()
        if producer is not None:
            await asyncio.to_thread(producer.flush, 1.0)

    async def _make_topics(self, topics: Collection[str]) -> None:
        if new := set(topics) - self._partitions.keys():
            asked = dict.fromkeys(new, PARTITIONS)
            self._partitions |= await asyncio.to_thread(make_topics, self._to, asked)

    async def _send(self, records: Sequence[_Record]) -> Sequence[bool]:
        await self._make_topics({topic for topic, *_ in records})
        if self._producer is None:
            self._producer = Producer(
                {
                    **config_of(self._to, self._failures),
                    "acks": "all",
                    "linger.ms": 5,
                    "sticky.partitioning.linger.ms": 0,  # spread also what is sent at once
                    "message.timeout.ms": round(_CALL_S * 1000),
                }
            )
        kept, why = await asyncio.to_thread(_publish, self._producer, records)
        if not all(kept):
            self._partitions.clear()  # so that topics which somebody has deleted are made again
        if records and not any(kept):
            raise transport.TransportError(f"nothing was confirmed: {why or self._failures.last}")
        return kept


def _publish(producer: Producer, records: Sequence[_Record]) -> tuple[Sequence[bool], str]:
    """Send in order; return which are confirmed, and why the last one of the others is not."""
    kept, refusals = [False] * len(records), [""]

    def noting(index: int) -> Callable[[KafkaError | None, Message], None]:
        def note(error: KafkaError | None, _: Message) -> None:
            kept[index] = error is None
            if error is not None:
                refusals.append(error.str())

        return note

    for index, (topic, partition, body, headers) in enumerate(records):
        try:
            producer.produce(
                topic, body, partition=partition, headers=dict(headers), on_delivery=noting(index)
            )
        except KafkaException as error:
            refusals.append(error.args[0].str())
            if error.args[0].code() != KafkaError.MSG_SIZE_TOO_LARGE:
                break  # it is sent again, with the rest
        except BufferError:
            break
    producer.flush(_CALL_S + 1)
    return kept, refusals[-1]
