"""The calls of the api about queues."""

from collections.abc import Sequence
from typing import NamedTuple

from weft.ports.store.callers import Row


class Waiting(NamedTuple):
    """Some jobs of a batch that wait."""

    batch_id: int
    last_job: int
    """The last one that was looked at."""
    jobs: Sequence[Row]
    """What guards read: `job_id`, `name`, `attributes`, `n_jobs` of the array (None: no array),
    `priority`, `always_run`, `max_attempts`, `cpu_m`, `memory_mib`, `storage_mib`, `gpu`, `asked`
    (with `queue` and `pool`), `named` (the job names its queue), `spec`.
    """
