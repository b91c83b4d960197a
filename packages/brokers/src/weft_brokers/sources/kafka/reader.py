"""The source `kafka`: each record of a topic is an item, in the order of its partition.

The cursor has the place in each partition, and is kept with the items, so the source is a member
of no group and commits nothing to the broker.
"""

from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    TopicPartition,
)

from weft.ports.source import Item, Reading, SourceFailed, SourceSite
from weft.ports.transport import TransportError
from weft_brokers.kafka.config import Failures, config_of
from weft_brokers.sources.messages import BYTES_MAX, connection_of, item_of_message

_CALL_S: Final = 10.0
_POLL_S: Final = 5.0
"""Until a broker that has nothing more says so."""
Offsets = dict[int, int]
"""The next offset, by partition."""


class KafkaSource:
    """Reads all partitions of a topic; one consumer, for as long as the options are the same."""

    def __init__(self) -> None:
        self._failures = Failures()
        self._consumer: Consumer | None = None
        self._opened: Mapping[str, Any] = {}

    def read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        """Read once."""
        try:
            return self._read(options, cursor, site)
        except (KafkaException, TransportError) as error:
            said = str(error)
            if isinstance(error, KafkaException):
                said = self._failures.reason(error)
            self._close()
            raise SourceFailed(f"topic {options['topic']!r}: {said}") from error

    def _read(
        self, options: Mapping[str, Any], cursor: Mapping[str, Any] | None, site: SourceSite
    ) -> Reading:
        consumer, topic = self._open(options), str(options["topic"])
        offsets = self._begin(consumer, options, cursor)
        consumer.assign([TopicPartition(topic, n, at) for n, at in sorted(offsets.items())])
        items: list[Item] = []
        size, left = 0, {*offsets}
        while left and len(items) < site.items_max and size < BYTES_MAX:
            message = consumer.poll(_POLL_S)
            if message is None:
                break
            if (error := message.error()) is None:
                body = message.value() or b""
                size += len(body)
                name = f"record {_number(message)}/{_offset(message)}"
                items.append(item_of_message(body, name, options))
                offsets[_number(message)] = _offset(message) + 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 (the library's name)
                left.discard(_number(message))
            else:
                raise TransportError(error.str()[:500])
        told = {str(n): at for n, at in offsets.items()}
        return Reading(items, {"offsets": told}, more=bool(left) and bool(items))

    def _open(self, options: Mapping[str, Any]) -> Consumer:
        if self._consumer is None or self._opened != options:
            self._close()
            self._failures = Failures()
            self._consumer = Consumer(
                {
                    **config_of(connection_of(options), self._failures),
                    "group.id": "weft.reads",  # it has to have one, and joins none
                    "enable.auto.commit": False,
                    "enable.partition.eof": True,
                    "auto.offset.reset": "earliest",
                }
            )
            self._opened = {**options}
        return self._consumer

    def _begin(
        self, consumer: Consumer, options: Mapping[str, Any], cursor: Mapping[str, Any] | None
    ) -> Offsets:
        """Return where to begin; what was not there at the first reading is read as a whole."""
        topic = str(options["topic"])
        found = consumer.list_topics(topic, timeout=_CALL_S).topics.get(topic)
        if found is None or found.error is not None or not found.partitions:
            raise TransportError("it is not there")
        known = {int(n): int(at) for n, at in (cursor or {}).get("offsets", {}).items()}
        offsets = {n: known.get(n, OFFSET_BEGINNING) for n in found.partitions}
        if cursor is None and options.get("first") == "latest":
            for n in offsets:
                at = TopicPartition(topic, n)
                _, offsets[n] = consumer.get_watermark_offsets(at, timeout=_CALL_S)
        return offsets

    def _close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            consumer.close()


def _number(message: Message) -> int:
    number = message.partition()
    assert number is not None
    return number


def _offset(message: Message) -> int:
    offset = message.offset()
    assert offset is not None
    return offset
