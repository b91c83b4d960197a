"""The documents with which a person acknowledges failures."""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import END, says
from weft.wire.documents.field_types import Moment, PositiveInt

NOTE_CHARS_MAX = 1000
ACKNOWLEDGED_MAX = 5_000
"""Jobs per request: some tenths of a second, so that their rows are not locked for long."""
CAUSE_PATTERN = "^[0-9a-f]{12}" + END


class NoteDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/dead-messages/{dead}/acknowledge`."""

    note: Annotated[
        str,
        Meta(min_length=1, max_length=NOTE_CHARS_MAX, pattern=r"^[^\x00]+$"),
        says("What a person says of it; it stays in the history.", "the disk was full"),
    ]


class AcknowledgeDocument(NoteDocument):
    """`POST …/failures/acknowledge`: all failed jobs of a batch, those of a cause, or some."""

    cause: Annotated[
        Annotated[str, Meta(pattern=CAUSE_PATTERN)] | None,
        says("Only jobs that failed for this cause.", "0f3a9c41d27e"),
    ] = None
    jobs: Annotated[
        Annotated[list[PositiveInt], Meta(min_length=1, max_length=ACKNOWLEDGED_MAX)] | None,
        says("Only jobs with these numbers.", [1, 2, 7]),
    ] = None
    until: Annotated[
        Moment | None, says("Only jobs that failed by then.", "2026-11-22T10:00:00Z")
    ] = None
