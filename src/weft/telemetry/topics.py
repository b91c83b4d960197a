"""What is said of records of topics, by all who read them."""

from weft.ports.topics import Arrival
from weft.telemetry import metrics
from weft.telemetry.log import get_logger

log = get_logger()

_WHY_CHARS = 500


def note_poison(arrival: Arrival, why: str) -> None:
    """Say that a record cannot be used."""
    topic, partition, offset = arrival.at
    log.warning(
        "topics.poison", topic=topic, partition=partition, offset=offset, error=why[:_WHY_CHARS],
        bytes=len(arrival.value),
    )  # fmt: skip
    metrics.TOPIC_POISON.labels(topic).inc()
