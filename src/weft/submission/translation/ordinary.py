"""Tell documents whose jobs use only what most jobs use from all others.

A request may have 10,000 jobs, and a look at one field of each costs as much as a tenth of its
decoding. So the fields that few jobs have are looked at once, all together, and what serves only
them is left out if no job has any.
"""

from collections.abc import Callable, Sequence
from typing import Final

from weft.submission.translation.fields import FIELDS
from weft.submission.translation.retries import REASONS
from weft.wire.documents.batches import JobDocument

_NAMES: Final = [field.name for field in FIELDS if field.name != "retry_on"]
_LOOK: Final = " or ".join(f"job.{name} is not None" for name in _NAMES)
# Compiled from our own names, because each field that a loop looks at costs twice as much.
_is_any_given: Final[Callable[[Sequence[JobDocument]], bool]] = eval(  # noqa: S307
    f"lambda jobs: any({_LOOK} for job in jobs)"
)


def are_ordinary(jobs: Sequence[JobDocument]) -> bool:
    """Say whether no job has a field of `FIELDS`, but for reasons for retries that all share."""
    shared = jobs[0].retry_on if jobs else None
    if not REASONS.issuperset(shared or ()) or any(job.retry_on != shared for job in jobs):
        return False
    return not _is_any_given(jobs)
