"""The answers about groups."""

from typing import Annotated, Literal

from msgspec import Meta

from weft.wire.answers.batches import CountedJobs


class Group(CountedJobs, kw_only=True):
    """A job group: its state, counts and cost."""

    batch_id: int
    group_id: int
    kind: Literal["tree", "set"]
    path: Annotated[str | None, Meta(description="of a tree group; null: a set")]
    parent_id: int | None
