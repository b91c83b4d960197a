"""RabbitMQ and Kafka: what carries offers, events and items of production lines (README.md)."""

from weft.ports.extension import Extension

EXTENSION = Extension(kinds="weft_brokers", sql="weft_brokers")
