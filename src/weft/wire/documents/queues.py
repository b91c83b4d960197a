"""The documents that describe queues."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import says
from weft.wire.documents.monitors import QueueMonitor
from weft.wire.patterns import QueueName

QueueLimit = Annotated[int, Meta(ge=0, le=1_000_000_000)]
QueueStateWord = Literal["enabled", "draining", "closed"]
QueueConsumersWord = Literal["weft", "foreign"]


class QueueDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A queue, as an operator wants it."""

    name: Annotated[QueueName, says("Unique within the tenant.", "short")]
    priority: Annotated[
        Annotated[int, Meta(ge=-1_000_000, le=1_000_000)] | None,
        says("Unique; the guard of the highest is asked first. Only `default` has none.", 10),
    ] = None
    guard: Annotated[
        str | None,
        says(
            "CEL expression: which jobs it takes. Without it only those that name the queue.",
            "job.timeout_s > 0 && job.timeout_s <= 600",
        ),
    ] = None
    pools: Annotated[
        tuple[QueueName, ...],
        says("In order: a job waits in the first that has a worker for it.", ["default"]),
    ] = ("default",)
    executor: Annotated[str | None, says("Of jobs that name none.", "process")] = None
    users: Annotated[
        tuple[str, ...] | None, says("Users whose jobs may wait here; without it all.", ["ann"])
    ] = None
    state: Annotated[
        QueueStateWord,
        says("Only an enabled one takes new jobs, and a closed one takes none back: they end."),
    ] = "enabled"
    max_running: Annotated[
        QueueLimit | None, says("Jobs of it that run at a time; without it no limit.", 100)
    ] = None
    max_running_per_user: Annotated[
        QueueLimit | None, says("The same for the jobs of each user.", 10)
    ] = None
    max_starts_per_s: Annotated[
        Annotated[int, Meta(ge=1, le=1_000_000_000)] | None,
        says("Jobs of it that start in any second; without it no limit.", 10),
    ] = None
    max_waiting: Annotated[
        QueueLimit | None,
        says("Jobs that may wait there; more are refused at submission.", 100_000),
    ] = None
    transport: Annotated[
        QueueName,
        says("How jobs reach workers: `postgres`, or the name of a connection of the server."),
    ] = "postgres"
    consumers: Annotated[
        QueueConsumersWord,
        says("The consumers of its transport: workers of weft, or programs of others."),
    ] = "weft"
    slots: Annotated[
        Annotated[int, Meta(ge=1, le=1_000_000)] | None,
        says("Jobs that are with foreign consumers at a time; only for these.", 4),
    ] = None
    queued_s: Annotated[
        Annotated[int, Meta(ge=1, le=31_536_000)] | None,
        says("Seconds for which foreign consumers may tell nothing of a job: else 600.", 600),
    ] = None
    monitor: QueueMonitor = None


class QueuesDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`PUT /v1/queues`: all queues of the tenant. Others are deleted, except `default`."""

    queues: Annotated[list[QueueDocument], says("At least those that shall stay.")]
    dry_run: Annotated[bool, says("Only return what would change.")] = False
