"""The part of a queue's document about limits on what its jobs do."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from weft.wire.description import says

YEAR_S = 366 * 86400
Seconds = Annotated[float, Meta(gt=0, le=YEAR_S)]
MonitorAction = Literal["requeue", "fail"]


class MonitorDocument(Struct, forbid_unknown_fields=True):
    """How long jobs of a queue may wait, and their attempts be in each phase, and what happens
    then.
    """

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
