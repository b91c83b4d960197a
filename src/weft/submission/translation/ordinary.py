"""Tell documents whose jobs use only what most jobs use from all others.

A request may have 10,000 jobs, and a look at one field of each costs as much as a tenth of its
decoding. So nothing looks at the fields that few jobs have if no job has any: that is known of
jobs that were decoded without them (`usual_jobs.py`), and of others by one look at all of them.
"""

from collections.abc import Callable, Sequence
from typing import Final

from weft.submission.translation.fields import FIELDS
from weft.submission.translation.retries import REASONS
from weft.wire.documents.batches import JobDocument
from weft.wire.usual_jobs import UsualJob

_NAMES: Final = [field.name for field in FIELDS if field.name != "retry_on"]
_LOOK: Final = " or ".join(f"job.{name} is not None" for name in _NAMES)
# Compiled from our own names, because each field that a loop looks at costs twice as much.
_is_any_given: Final[Callable[[Sequence[JobDocument]], bool]] = eval(  # noqa: S307
    f"lambda jobs: any({_LOOK} for job in jobs)"
)


def are_ordinary(jobs: Sequence[JobDocument]) -> bool:
    """Say whether no job has a field of `FIELDS`, but for reasons for retries that all share."""
    reasons = {job.retry_on for job in jobs}
    if len(reasons) > 1 or not all(REASONS.issuperset(one or ()) for one in reasons):
        return False
    return {UsualJob}.issuperset(map(type, jobs)) or not _is_any_given(jobs)
