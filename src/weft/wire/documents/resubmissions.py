"""The documents with which jobs run again."""

from typing import Annotated

from msgspec import Struct

from weft.wire.description import says
from weft.wire.documents.field_types import MaxAttempts, PositiveInt, Priority, Seconds


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
