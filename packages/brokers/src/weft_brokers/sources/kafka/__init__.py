"""The source `kafka`: each record of a topic of Kafka is an item."""

from typing import Final

from weft.ports.line_kinds import NEEDED_TEXT, TEXT, Option, SourceKind


def _is_begin(given: object) -> str:
    return "" if given in {"earliest", "latest"} else 'it should be "earliest" or "latest"'


KIND: Final = SourceKind(
    {"transport": NEEDED_TEXT, "topic": NEEDED_TEXT, "first": Option(_is_begin), "dedupe": TEXT}
)
