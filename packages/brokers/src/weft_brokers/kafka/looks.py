"""What the cluster says of topics, groups and rights. Nothing here changes it."""

import socket
import ssl
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from typing import Any, Final

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import ConfigResource
from confluent_kafka.admin._listoffsets import OffsetSpec
from confluent_kafka.admin._resource import ResourceType
from confluent_kafka.cimpl import NewTopic as Topic

from weft.core.findings import Finding
from weft.ports.transport import Connection, Depth

_CALL_S: Final = 10.0


def depths(admin: AdminClient, topics: Sequence[str]) -> Sequence[Depth]:
    """Return what is not done of each topic, and the members of the group of its name."""
    known = admin.list_topics(timeout=_CALL_S).topics
    return [
        _depth(admin, topic, len(known[topic].partitions)) if topic in known else Depth(0, 0)
        for topic in topics
    ]


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


_BYTES_MAX: Final = 1_000_000
_API_VERSIONS: Final = 18
_VERSION: Final = 3
_FEATURE: Final = b"metadata.version"
_RELEASES: Final = (
    (1, "3.0"),
    (2, "3.1"),
    (3, "3.2"),
    (4, "3.3"),
    (8, "3.4"),
    (9, "3.5"),
    (12, "3.6"),
    (15, "3.7"),
    (20, "3.8"),
    (21, "3.9"),
    (22, "4.0"),
    (26, "4.1"),
    (28, "4.2"),
    (30, "4.3"),
    (31, "4.4 or newer"),
)
"""The first level of each release."""


def release_of(to: Connection) -> str | None:
    """Return the release of the first broker of a connection that answers; None: none tells."""
    for host in to.address.rstrip("/").partition("://")[2].split(","):
        name, _, port = host.rpartition(":")
        try:
            with (
                socket.create_connection((name.strip("[]"), int(port)), _CALL_S) as plain,
                _secured(plain, to, name) as link,
            ):
                level = _level(_asked(link))
        except (OSError, ValueError, OverflowError, struct.error):
            continue
        return None if level is None else _release(level)
    return None


def _secured(
    plain: socket.socket, to: Connection, name: str
) -> AbstractContextManager[socket.socket]:
    if not to.address.startswith("kafkas:"):
        return plain
    context = ssl.create_default_context(cafile=None if to.ca_file is None else str(to.ca_file))
    return context.wrap_socket(plain, server_hostname=name.strip("[]"))


def _asked(link: socket.socket) -> bytes:
    """Ask for what the broker supports; return the body of its answer."""
    words = b"".join(bytes([len(one) + 1]) + one for one in (b"weft", b"1"))
    request = struct.pack(">hhih", _API_VERSIONS, _VERSION, 1, -1) + b"\0" + words + b"\0"
    link.sendall(struct.pack(">i", len(request)) + request)
    with link.makefile("rb") as answer:
        (n_bytes,) = struct.unpack(">i", answer.read(4))
        if not 0 < n_bytes < _BYTES_MAX:
            raise ValueError(n_bytes)
        return answer.read(n_bytes)


def _level(body: bytes) -> int | None:
    """Return the highest level in an answer; None: it names none, as of a cluster with ZooKeeper
    or of another program.
    """
    rest = BytesIO(body)
    _, error = struct.unpack(">ih", rest.read(6))
    if error:
        return None
    for _ in range(_number(rest) - 1):
        rest.read(6)  # a kind of request, and its versions
        _tags(rest)
    rest.read(4)
    features = BytesIO(_tags(rest).get(0, b"\1"))
    for _ in range(_number(features) - 1):
        name = features.read(_number(features) - 1)
        _, highest = struct.unpack(">hh", features.read(4))
        _tags(features)
        if name == _FEATURE:
            return int(highest)
    return None


def _tags(data: BytesIO) -> dict[int, bytes]:
    return {_number(data): data.read(_number(data)) for _ in range(_number(data))}


def _number(data: BytesIO) -> int:
    """Read a number of seven bits a byte, the lowest first."""
    found = shift = 0
    while byte := data.read(1):
        found |= (byte[0] & 127) << shift
        shift += 7
        if byte[0] < 128:  # noqa: PLR2004 (the last byte)
            return found
    raise ValueError("it ends too soon")


def _release(level: int) -> str | None:
    """Return the release whose highest level this is; None: it has none."""
    after = bisect_right(_RELEASES, level, key=lambda one: one[0])
    return _RELEASES[after - 1][1] if after else None
