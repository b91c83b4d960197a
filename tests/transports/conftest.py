"""One broker of each kind for all tests of this folder."""

from contexts import fixture_of
from transports.kafka_broker import kafka_broker
from transports.rabbit_broker import rabbit_broker

rabbit = fixture_of(rabbit_broker, "session")
"""A RabbitMQ that runs."""


kafka = fixture_of(kafka_broker, "session")
"""A Kafka that runs."""
