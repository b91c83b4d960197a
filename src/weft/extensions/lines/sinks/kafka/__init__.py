"""The sink `kafka`: messages to topics of Kafka."""
