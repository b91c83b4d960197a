"""One broker of each kind for all tests of this folder."""

from collections.abc import Iterator

import pytest

from transports.kafka_broker import KafkaBroker, kafka_broker
from transports.rabbit_broker import RabbitBroker, rabbit_broker


@pytest.fixture(scope="session")
def rabbit() -> Iterator[RabbitBroker]:
    """Give a RabbitMQ that runs."""
    with rabbit_broker() as found:
        yield found


@pytest.fixture(scope="session")
def kafka() -> Iterator[KafkaBroker]:
    """Give a Kafka that runs."""
    with kafka_broker() as found:
        yield found
