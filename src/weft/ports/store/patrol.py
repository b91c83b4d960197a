"""What the driver sees when it looks at all jobs that have not ended."""

from collections.abc import Sequence
from typing import NamedTuple

from weft.ports.store.callers import Row


class Position(NamedTuple):
    """Where a look at the jobs goes on."""

    tenant_id: int = 0
    batch_id: int = 0
    after_job: int = 0


class Patrolled(NamedTuple):
    """One bounded step of it."""

    position: Position
    """From where the next step goes on."""
    n_live: int
    """How many of the jobs have not ended."""
    orphans: Sequence[Row]
    """`batch_id`, `job_id` and `state` of those that nobody will let go on."""
    ended: Sequence[Row] = ()
    """`batch_id`, `n_jobs` and `message` of those that waited for too long."""
