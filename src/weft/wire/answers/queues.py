"""The documents about queues that the API replies with, for its description."""

from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from weft.wire.answers.batches import Count

NOT_THEIRS: Final = "null: the queue takes no jobs of the user who asks"


class Queue(Struct, kw_only=True):
    """A queue, with how many jobs it has."""

    name: str
    priority: Annotated[int | None, Meta(description="null: the queue `default`, the last one")]
    guard: str | None
    pools: list[str]
    executor: str | None
    users: Annotated[list[str] | None, Meta(description="null: all of the tenant")]
    state: Literal["enabled", "draining", "closed"]
    max_running: int | None
    max_running_per_user: int | None
    max_starts_per_s: int | None
    max_waiting: int | None
    transport: str
    consumers: Literal["weft", "foreign"]
    slots: Annotated[int | None, Meta(description="null: it has no foreign consumers")]
    queued_s: Annotated[int | None, Meta(description="null: 600, if it has foreign consumers")]
    monitor: Annotated[
        dict[str, int | float | str | None] | None, Meta(description="null: no limits")
    ]
    n_waiting: Annotated[Count | None, Meta(description=NOT_THEIRS)]
    n_running: Annotated[Count | None, Meta(description=NOT_THEIRS)]


class QueueChange(Struct, kw_only=True):
    """A queue that is created, changed or deleted."""

    kind: Literal["create", "change", "delete"]
    queue: str
    fields: Annotated[dict[str, Any], Meta(description="what differs: [before, after]")]


class QueuesSaved(Struct, kw_only=True):
    """What saving queues has changed, or would change."""

    changes: list[QueueChange]
    new_pools: list[str]
    dry_run: bool


class QueueVerdict(Struct, kw_only=True):
    """Whether a queue takes a job."""

    queue: str
    takes: bool
    reason: Annotated[str, Meta(description="why not")]


class JobRoute(Struct, kw_only=True):
    """The queue that takes a job, or several that are asked for in the same way."""

    jobs: Annotated[list[int], Meta(description="their positions in the document, from 1")]
    queue: str
    verdicts: list[QueueVerdict]


class QueuesTested(Struct, kw_only=True):
    """Which queues take the jobs of a document."""

    routes: list[JobRoute]


class QueueMove(Struct, kw_only=True):
    """Jobs that moved from one queue to another, or would."""

    queue: str
    to: str
    n_jobs: Count


class QueuesRerouted(Struct, kw_only=True):
    """What moved among the jobs that were looked at."""

    moves: list[QueueMove]
    cursor: Annotated[str | None, Meta(description="null: all waiting jobs were looked at")]
