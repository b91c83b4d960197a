"""The sink `kafka`: each message is a record of a topic of Kafka."""

from typing import Final

from weft.ports.line_kinds import SinkKind

_FIELDS: Final = ("transport", "topic", "key")
KIND: Final = SinkKind(
    _FIELDS, lambda sink: sink.target(*_FIELDS, usual={"key": "${job.id}"}), position=5
)
