"""The sink `kafka`: messages to topics of Kafka."""

from typing import Final

from weft.extensions.lines.rules.kinds import SinkKind

_FIELDS: Final = ("transport", "topic", "key")
KIND: Final = SinkKind(
    _FIELDS, lambda sink: sink.target(*_FIELDS, usual={"key": "${job.id}"}), position=5
)
