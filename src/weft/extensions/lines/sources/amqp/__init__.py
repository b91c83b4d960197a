"""The source `amqp`: each message of a queue of RabbitMQ is an item."""
