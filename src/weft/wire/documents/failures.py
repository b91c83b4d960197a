"""The documents with which a person acknowledges failed jobs and dead messages, or runs jobs
again.
"""

from typing import Annotated

from msgspec import Meta, Struct

from weft.wire.description import END, says
from weft.wire.documents.batches import MaxAttempts, Moment, PositiveInt, Priority, Seconds

NOTE_CHARS_MAX = 1000
ACKNOWLEDGED_MAX = 5_000
"""Jobs per request: some tenths of a second, so that their rows are not locked for long."""
CAUSE_PATTERN = "^[0-9a-f]{12}" + END


class NoteDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST /v1/dead-messages/{dead}/acknowledge`."""

    note: Annotated[
        str,
        Meta(min_length=1, max_length=NOTE_CHARS_MAX, pattern=r"^[^\x00]+$"),
        says("What a person says of it; it stays in the history.", "the disk was full"),
    ]


class AcknowledgeDocument(NoteDocument):
    """`POST …/failures/acknowledge`: all failed jobs of a batch, those of a cause, or some."""

    cause: Annotated[
        Annotated[str, Meta(pattern=CAUSE_PATTERN)] | None,
        says("Only jobs that failed for this cause.", "0f3a9c41d27e"),
    ] = None
    jobs: Annotated[
        Annotated[list[PositiveInt], Meta(min_length=1, max_length=ACKNOWLEDGED_MAX)] | None,
        says("Only jobs with these numbers.", [1, 2, 7]),
    ] = None
    until: Annotated[
        Moment | None, says("Only jobs that failed by then.", "2026-11-22T10:00:00Z")
    ] = None


class RetryJobsDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/retry`: without `jobs`, all failed jobs of the batch run again."""

    jobs: Annotated[
        list[PositiveInt] | None,
        says("Their numbers. They run again also if a person cancelled them.", [3, 7]),
    ] = None


class ResourceChanges(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What jobs reserve that are resubmitted; other resources stay as they were."""

    cpu: Annotated[
        int | float | str | None,
        says('Above 0; `"250m"` is a quarter of a core.', 2, unit="cores"),
    ] = None
    memory: Annotated[
        int | float | str | None,
        says("A number with a unit as text; a bare number counts bytes.", "4Gi", unit="bytes"),
    ] = None


class ResubmitDocument(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """`POST …/resubmit`: which jobs a new batch is made of, and what is different in it."""

    failed: Annotated[
        bool, says("Only what failed, and what a failed parent or a limit of failures cancelled.")
    ] = False
    job: Annotated[PositiveInt | None, says("Only this job; its parents count as done.", 7)] = None
    name: Annotated[str | None, says("Without it that of the old batch.", "nightly again")] = None
    attributes: Annotated[
        dict[str, str], says("Added to those of the old batch.", {"cohort": "scz1"})
    ] = {}
    billing_project: Annotated[
        str | None, says("Without it that of the old batch.", "genomics")
    ] = None
    priority: Annotated[Priority | None, says("Of all its jobs.", 5)] = None
    env: Annotated[
        dict[str, str], says("Variables added to the environment of its jobs.", {"THREADS": "4"})
    ] = {}
    resources: Annotated[
        ResourceChanges | None, says("What each of its jobs reserves.", {"memory": "4Gi"})
    ] = None
    timeout_s: Annotated[
        Seconds | None, says("Time after which an attempt is stopped.", 3600, unit="seconds")
    ] = None
    max_attempts: Annotated[MaxAttempts | None, says("Attempts of each job in all.", 3)] = None
    queue: Annotated[str | None, says("The queue in which its jobs wait.", "short")] = None
