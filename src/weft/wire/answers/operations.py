"""The answers about operations."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from weft.wire.answers.field_types import Count
from weft.wire.answers.problems import Problem


class Operation(Struct, kw_only=True):
    """Work on a batch, or on many, that goes on in the background."""

    id: int
    kind: str
    batch_id: Annotated[int | None, Meta(description="null: it is on many batches")]
    state: Literal["running", "success", "failed", "cancelled"]
    done: Annotated[Count, Meta(description="of job or batch numbers, those that it has passed")]
    total: Count
    error: Problem | None
    result: dict[str, Any] | None
    created_at: datetime
    ended_at: datetime | None
    trace_id: str | None
