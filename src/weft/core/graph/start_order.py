"""Whether jobs began after their parents had ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class EarlyStart:
    """A job that began too early."""

    job_id: int
    started_at: datetime
    parent_id: int
    parent_ended_at: datetime | None
    """None: the parent has not ended."""


def early_starts(
    started: Mapping[int, datetime],
    ended: Mapping[int, datetime],
    parents: Mapping[int, Sequence[int]],
) -> Iterator[EarlyStart]:
    """Yield each pair of a job that began and a parent that had not ended by then.

    `started`: when the first attempt of each job began, of those that did; `ended`: when each job
    ended, of those that did.
    """
    for job, started_at in started.items():
        for parent in parents.get(job, ()):
            ended_at = ended.get(parent)
            if ended_at is None or ended_at > started_at:
                yield EarlyStart(job, started_at, parent, ended_at)
