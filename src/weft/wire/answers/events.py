"""The events of a batch, as streams carry them."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from weft.core.states import JobStateWord


class Event(Struct, kw_only=True, rename={"from_": "from"}):
    """A change of jobs or groups of a batch, or of a condition that jobs wait for, as `data` of a
    server-sent event.
    """

    id: Annotated[str, Meta(description="for the Last-Event-ID header")]
    at: datetime
    kind: Annotated[str, Meta(examples=["jobs.success", "group.complete", "batch.complete"])]
    batch_id: Annotated[int, Meta(description="0: it is about no batch")]
    from_: JobStateWord | None
    to: JobStateWord | None
    jobs: list[int]
    groups: list[int]
    trace_id: str | None
    detail: Annotated[
        dict[str, Any] | None,
        Meta(
            description="of `condition.opened` and `condition.closed`: the condition; of an "
            "`operation` on many batches: its number"
        ),
    ]
