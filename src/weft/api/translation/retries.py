"""The field `retry` of jobs: how long they wait before another attempt."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from weft.core.errors import InvalidValue
from weft.core.problems import Problems, pointer_of
from weft.core.retry_policy import completed, mistakes
from weft.wire.documents import JobDocument
from weft.wire.retry_documents import RetryDocument


def check_retries(jobs: Sequence[JobDocument], problems: Problems) -> None:
    """Note what is wrong with the policies of these jobs."""
    for index, job in enumerate(jobs):
        if job.retry is None:
            continue
        for where, message in mistakes(_given(job.retry)):
            problems.add(InvalidValue, pointer_of("jobs", index, "retry", *where), message)
        if job.max_attempts == 1:
            problems.add(
                InvalidValue,
                pointer_of("jobs", index, "retry"),
                "has no effect on a job that is not tried again (max_attempts, --retries)",
            )


def whole_policy(document: RetryDocument) -> dict[str, Any]:
    """Return a policy with its defaults, as the database stores it."""
    return completed(_given(document))


def _given(document: RetryDocument) -> Mapping[str, Any]:
    given: Mapping[str, Any] = msgspec.to_builtins(document)
    return given
