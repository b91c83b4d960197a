"""What the cluster says of topics, groups and rights. Nothing here changes it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic as Topic

from weft.core.findings import Finding
from weft.plugins.transports.kafka.version import release_of
from weft.ports.transport import Connection, Depth

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
    at = {partition.partition: partition.offset for partition in group.topic_partitions or ()}
    lag = sum(end - max(at.get(number, 0), first.get(number, 0)) for number, end in last.items())
    told = admin.describe_consumer_groups([topic], request_timeout=_CALL_S)[topic]
    return Depth(max(0, lag), len(told.result(_CALL_S + 1).members))


def _offsets(
    admin: AdminClient, partitions: Sequence[TopicPartition], which: OffsetSpec
) -> dict[int, int]:
    offsets: dict[TopicPartition, Any] = admin.list_offsets(
        dict.fromkeys(partitions, which), request_timeout=_CALL_S
    )
    return {one.partition: future.result(_CALL_S + 1).offset for one, future in offsets.items()}


def check(admin: AdminClient, to: Connection, topics: Sequence[str]) -> Sequence[Finding]:
    """Say what the cluster is, whether its user could make a topic there, and what these are."""
    name, cluster = to.name, admin.list_topics(timeout=_CALL_S)
    n_brokers, release = (
        len(cluster.brokers),
        release_of(to) or "of a version that it does not tell",
    )
    what = f"Kafka {release} with {n_brokers} broker{'s' * (n_brokers != 1)}"
    found = [Finding(name, "ok", what)]
    there = {one: len(cluster.topics[one].partitions) for one in topics if one in cluster.topics}
    found += _topics(admin, name, there)
    asked = admin.create_topics(
        [Topic("weft.check", num_partitions=1)], request_timeout=_CALL_S, validate_only=True
    )
    try:
        asked["weft.check"].result(_CALL_S + 1)
    except KafkaException as error:
        advice = f"Let user {to.user} create, describe, write and read topics named `weft.*`."
        return [*found, Finding(name, "wrong", error.args[0].str()[:500], advice)]
    return [*found, Finding(name, "ok", "topics named weft.* can be made")]


def _topics(admin: AdminClient, name: str, topics: Mapping[str, int]) -> Iterator[Finding]:
    """Say of topics, by their numbers of partitions, what they are."""
    if not topics:
        return
    asked = {ConfigResource(ResourceType.TOPIC, topic): topic for topic in topics}
    for resource, future in admin.describe_configs(list(asked), request_timeout=_CALL_S).items():
        topic = asked[resource]
        policy = str(future.result(_CALL_S + 1)["cleanup.policy"].value)
        what = f"topic {topic}: {topics[topic]} partition{'s' * (topics[topic] != 1)}"
        if "compact" in policy:
            what = f"topic {topic} is compacted: it takes no records without keys"
            yield Finding(name, "wrong", what, "Give it cleanup.policy=delete, or delete it.")
        else:
            yield Finding(name, "ok", what)
