"""What is said of records of topics, by all who read them."""

from contextlib import suppress

from weft.ports.patience import pause_after
from weft.ports.topics import Arrival, Record, Topics
from weft.ports.transport import DEAD, Route, TransportError, refusal_of
from weft.telemetry import metrics
from weft.telemetry.log import log

_WHY_CHARS = 500


async def keep_poison(topics: Topics, tenant: str, arrival: Arrival, why: str) -> None:
    """Say that a record cannot be used; write it to a tenant's dead ones, as often as it takes."""
    topic, partition, offset = arrival.at
    log.warning(
        "topics.poison",
        topic=topic,
        partition=partition,
        offset=offset,
        error=why[:_WHY_CHARS],
        bytes=len(arrival.value),
    )
    metrics.TOPIC_POISON.labels(topic).inc()
    dead = Route(tenant, DEAD).name
    body, headers = refusal_of(topic, why, arrival.value)
    failures = 0
    while True:
        with suppress(TransportError):
            await topics.make({dead: 1})
            if all(await topics.publish([Record(dead, "", body, headers)])):
                return
        failures += 1
        await pause_after(failures)
