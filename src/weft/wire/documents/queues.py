"""The documents that describe queues, what they watch, and other queues for waiting jobs."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import EVALUATED, QueueName, says

YEAR_S = 366 * 86400
Seconds = Annotated[float, Meta(gt=0, le=YEAR_S)]
MonitorAction = Literal["requeue", "fail"]


class MonitorDocument(Struct, forbid_unknown_fields=True):
    """How long jobs of a queue may wait and be in each phase, and what happens then."""

    action: Annotated[
        MonitorAction,
        says(
            "What becomes of a job whose attempt was stopped beyond a limit: it runs again, or "
            "ends as an error."
        ),
    ] = "requeue"
    rounds: Annotated[
        Annotated[int, Meta(ge=0, le=1000)],
        says("How often a job runs again; the next time it ends as an error.", 3),
    ] = 3
    ready_s: Annotated[
        Seconds | None,
        says("How long a job may be ready; then it ends as an error.", 86400, unit="seconds"),
    ] = None
    blocked_s: Annotated[
        Seconds | None,
        says("How long a job may be blocked; then it ends as an error.", 3600, unit="seconds"),
    ] = None
    silent_s: Annotated[
        Seconds, says("How long a worker may not name an attempt that it has.", unit="seconds")
    ] = 300
    assigned_s: Annotated[
        Seconds, says("How long an attempt may be claimed and not started.", unit="seconds")
    ] = 1800
    preparing_s: Annotated[Seconds, says("How long it may prepare.", unit="seconds")] = 1800
    staging_inputs_s: Annotated[
        Seconds, says("How long it may fetch its inputs.", unit="seconds")
    ] = 1800
    submitting_s: Annotated[
        Seconds, says("How long it may be on its way to a remote engine.", unit="seconds")
    ] = 1800
    queued_remote_s: Annotated[
        Seconds, says("How long it may wait at a remote engine.", unit="seconds")
    ] = 3600
    executing_s: Annotated[Seconds, says("How long its process may run.", unit="seconds")] = 16200
    collecting_s: Annotated[
        Seconds, says("How long its results may be collected.", unit="seconds")
    ] = 1800
    archiving_s: Annotated[Seconds, says("How long they may be archived.", unit="seconds")] = 1800
    publishing_s: Annotated[Seconds, says("How long they may be published.", unit="seconds")] = 600


QueueMonitor = Annotated[
    MonitorDocument | None, says("Limits on what its jobs do; without it none.")
]


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
        Annotated[str, EVALUATED] | None,
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
        tuple[Annotated[str, Meta(min_length=1, max_length=256)], ...] | None,
        says("Users whose jobs may wait here; without it all.", ["ann"]),
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


class RerouteDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/queue-reroute`: move the next jobs that wait."""

    queue: Annotated[QueueName | None, says("Only jobs of this queue.", "short")] = None
    to: Annotated[
        QueueName | None, says("To this queue; without it to those that guards choose.", "large")
    ] = None
    dry_run: Annotated[bool, says("Only count.")] = False
    cursor: Annotated[str | None, says("From the previous answer: go on there.", "b7.j1000")] = (
        None
    )
