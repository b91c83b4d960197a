"""The source `amqp`: each message of a queue of RabbitMQ is an item."""

from typing import Final

from weft.ports.line_kinds import NEEDED_TEXT, TEXT, SourceKind

KIND: Final = SourceKind({"transport": NEEDED_TEXT, "queue": NEEDED_TEXT, "dedupe": TEXT})
