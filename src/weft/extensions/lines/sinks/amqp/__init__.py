"""The sink `amqp`: messages to exchanges of RabbitMQ."""
