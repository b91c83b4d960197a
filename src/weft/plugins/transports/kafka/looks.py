"""What the cluster says of topics, groups and rights. Nothing here changes it."""

from collections.abc import Sequence
from typing import Any, Final

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.cimpl import NewTopic as Topic

from weft.core.findings import Finding
from weft.ports.transport import Depth

_CALL_S: Final = 10.0


def depths(admin: AdminClient, topics: Sequence[str]) -> Sequence[Depth]:
    """Return what is not done of each topic, and the members of the group of its name."""
    known = admin.list_topics(timeout=_CALL_S).topics
    return [_depth(admin, topic, len(known[topic].partitions)) if topic in known else Depth(0, 0)
            for topic in topics]  # fmt: skip


def _depth(admin: AdminClient, topic: str, n_partitions: int) -> Depth:
    partitions = [TopicPartition(topic, number) for number in range(n_partitions)]
    first = _offsets(admin, partitions, OffsetSpec.earliest())  # type: ignore[no-untyped-call]
    last = _offsets(admin, partitions, OffsetSpec.latest())  # type: ignore[no-untyped-call]
    group = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(topic, partitions)], request_timeout=_CALL_S
    )[topic].result(_CALL_S + 1)
    at = {one.partition: one.offset for one in group.topic_partitions or ()}
    lag = sum(end - max(at.get(number, 0), first.get(number, 0)) for number, end in last.items())
    told = admin.describe_consumer_groups([topic], request_timeout=_CALL_S)[topic]
    return Depth(max(0, lag), len(told.result(_CALL_S + 1).members))


def _offsets(
    admin: AdminClient, partitions: Sequence[TopicPartition], which: OffsetSpec
) -> dict[int, int]:
    asked: dict[TopicPartition, Any] = admin.list_offsets(
        dict.fromkeys(partitions, which), request_timeout=_CALL_S
    )
    return {one.partition: future.result(_CALL_S + 1).offset for one, future in asked.items()}


def check(admin: AdminClient, name: str, user: str) -> Sequence[Finding]:
    """Say what the cluster is, and whether this user could make a topic there."""
    brokers = admin.list_topics(timeout=_CALL_S).brokers
    found = [Finding(name, "ok", f"Kafka with {len(brokers)} broker{'s' * (len(brokers) != 1)}")]
    asked = admin.create_topics(
        [Topic("weft.check", num_partitions=1)], request_timeout=_CALL_S, validate_only=True
    )
    try:
        asked["weft.check"].result(_CALL_S + 1)
    except KafkaException as error:
        advice = f"Let user {user} create, describe, write and read topics named `weft.*`."
        return [*found, Finding(name, "wrong", error.args[0].str()[:500], advice)]
    return [*found, Finding(name, "ok", "topics named weft.* can be made")]
