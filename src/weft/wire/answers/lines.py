"""The answers about production lines."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.wire.answers.field_types import Count
from weft.wire.answers.sinks import UnsentMessages
from weft.wire.answers.sources import Source, SourceItem


class LineSource(Source, kw_only=True):
    """A source, how far it is, and what it found last."""

    cursor: Annotated[dict[str, Any] | None, Meta(description="where the next reading begins")]
    n_waiting: Annotated[
        int, Meta(ge=0, le=10_000, description="items without a job; 10000: more")
    ]
    last_items: Annotated[list[SourceItem], Meta(description="the newest three")]


class LineSink(UnsentMessages, kw_only=True):
    """A sink, and what of up to 10,000 of its messages has not arrived."""

    setup: Annotated[str, Meta(description="the line that has it")]
    removed: Annotated[bool, Meta(description="no line has it now")]
    oldest_at: Annotated[
        datetime | None, Meta(description="the date of the oldest that is still to be sent")
    ]


class StatusCount(Struct, kw_only=True):
    """How many jobs have a status."""

    lifecycle: str
    status: str
    n_jobs: Count


class Lines(Struct, kw_only=True):
    """How production lines are."""

    sources: Annotated[list[LineSource], Meta(description="at most 1000, by name")]
    sinks: Annotated[
        list[LineSink],
        Meta(description="the same; those of others only for who sees the whole tenant"),
    ]
    statuses: Annotated[
        list[StatusCount],
        Meta(description="of up to 50,000 jobs of the newest 1,000 batches with a lifecycle"),
    ]
