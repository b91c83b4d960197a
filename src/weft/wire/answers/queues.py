"""The documents about queues that the API replies with, for its description."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from weft.core import queues
from weft.wire.answers.field_types import Count

NOT_THEIRS: Final = "null: the queue takes no jobs of the user who asks"


class Queue(queues.Queue, frozen=True, kw_only=True):
    """A queue, with how many jobs it has."""

    n_waiting: Annotated[Count | None, Meta(description=NOT_THEIRS)]
    n_running: Annotated[Count | None, Meta(description=NOT_THEIRS)]


class QueuesSaved(Struct, kw_only=True):
    """What saving queues has changed, or would change."""

    changes: list[queues.QueueDifference]
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
