"""The answers about sources of production lines."""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

ItemStateWord = Literal["new", "waiting", "ready", "job", "cancelled", "refused"]
ItemCount = Annotated[int, Meta(ge=0)]


class Source(Struct, kw_only=True):
    """A source of items, each of which becomes a job."""

    source: str
    setup: Annotated[str, Meta(description="the line that has it")]
    kind: str
    user: Annotated[str, Meta(description="as whom jobs are submitted")]
    billing_project: str
    lifecycle: Annotated[str | None, Meta(description="of its jobs")]
    every_s: float
    state: Literal["active", "failing", "paused"]
    read_at: Annotated[datetime | None, Meta(description="when it was last read without an error")]
    next_at: Annotated[datetime | None, Meta(description="null: it is paused")]
    paused_at: datetime | None
    n_failures: Annotated[int, Meta(ge=0, description="failed readings in a row")]
    failed_since: datetime | None
    error: Annotated[
        str | None, Meta(description="why the last reading failed, or no jobs could be made")
    ]


class ShownSource(Source, kw_only=True):
    """A source with all that is known of it."""

    n_items: Annotated[dict[str, ItemCount], Meta(description="by state")]


class SourceItem(Struct, kw_only=True):
    """What a source has found."""

    n: Annotated[int, Meta(ge=1, description="its place in the order in which they were found")]
    key: str
    state: Annotated[
        ItemStateWord,
        Meta(
            description="`new`: just found; `waiting`: see `reason`; `ready`: its job is being "
            "submitted; `job`: it has one; `cancelled`: by its configuration; `refused`: it "
            "cannot have one"
        ),
    ]
    found_at: datetime
    job: Annotated[str | None, Meta(description="such as `b1.j7`, which may be deleted")]
    reason: Annotated[str | None, Meta(description="why it waits, or has no job")]
    series: Annotated[str | None, Meta(description="in which it stands, if its source has such")]
    series_at: Annotated[
        float | None, Meta(description="where it stands: a number, or seconds since 1970")
    ]
    late: Annotated[
        bool,
        Meta(
            description="what comes after it in its series had been decided before it, and was "
            "not run again"
        ),
    ]
    parameters: Annotated[
        dict[str, int], Meta(description="the versions of parameters that decided about it")
    ]


class ItemChange(Struct, kw_only=True):
    """A dated change of an item, or a status of a job that it became."""

    at: datetime
    state: Annotated[str, Meta(description="of the item; of its job, from the first status on")]
    status: Annotated[str | None, Meta(description="of its lifecycle, if it has one")]
    actor: str
    subtype: str | None
    message: Annotated[str | None, Meta(description="why")]
    job: Annotated[str | None, Meta(description="that it became afterwards")]


class SeriesRerunning(Struct, kw_only=True):
    """Items of a series that are decided again."""

    source: str
    series: str
    n_items: ItemCount


class TriedItem(Struct, kw_only=True):
    """What a source gives, and what would become of it."""

    key: str
    known: Annotated[
        ItemStateWord | None,
        Meta(description="the state of the item of this key; null: it would be new"),
    ]
    state: Literal["ready", "waiting", "cancelled", "refused"]
    reason: Annotated[str | None, Meta(description="why it would wait, or get no job")]
    job: Annotated[dict[str, Any] | None, Meta(description="its job, as it would be submitted")]


class SourceTried(Struct, kw_only=True):
    """A reading of which nothing was kept."""

    source: str
    error: Annotated[str | None, Meta(description="why it could not be read")]
    n_items: ItemCount
    more: Annotated[bool, Meta(description="there is more to be read")]
    items: Annotated[list[TriedItem], Meta(description="the first 100 of them")]
