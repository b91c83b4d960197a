"""Messages to topics of Kafka, which somebody else has made."""

from collections.abc import Mapping
from typing import Any

from weft.ports.senders import Answered
from weft.ports.sink import SinkMessage, SinkProblem, SinkSite
from weft.ports.topics import Record
from weft.ports.transport import TransportError
from weft_brokers.kafka.topics import KafkaTopics


class KafkaSink:
    """A producer for each transport."""

    def __init__(self, site: SinkSite) -> None:
        self._site = site
        self._topics: dict[str, KafkaTopics] = {}

    async def send(self, sink: Mapping[str, Any], message: SinkMessage) -> Answered:
        """Write a record, and wait until all replicas in step have it."""
        del sink
        target = message.target
        try:
            to = self._site.connection(message, "kafka", target["topic"])
        except SinkProblem as error:
            return Answered(error=str(error))
        topics = self._topics.setdefault(to.name, KafkaTopics(to))
        record = Record(
            target["topic"], target["key"], message.body, {"weft-delivery": message.name}
        )
        try:
            await topics.publish([record])
        except TransportError as error:
            return Answered(error=str(error))
        return Answered(delivered=True)

    async def close(self) -> None:
        for topic in self._topics.values():
            await topic.close()
