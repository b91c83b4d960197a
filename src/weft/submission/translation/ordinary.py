"""Tell documents whose jobs use only what most jobs use from all others.

A request may have 10,000 jobs, and a look at one field of each costs as much as a tenth of its
decoding. So the fields that few jobs have are looked at once, all together, and what serves only
them is left out if no job has any.
"""

from collections.abc import Sequence

from weft.submission.translation.retries import REASONS
from weft.wire.documents import JobDocument


def are_ordinary(jobs: Sequence[JobDocument]) -> bool:
    """Say whether no job is an array, has a function, an executor, rules for its retries but
    reasons that all jobs share, secrets, a wish about the network, or a field of
    `RARE_JOB_FIELDS`.
    """
    shared = jobs[0].retry_on if jobs else None
    return REASONS.issuperset(shared or ()) and not any(
        job.count is not None
        or job.values is not None
        or job.function is not None
        or job.executor is not None
        or job.retry_on != shared
        or job.retry is not None
        or job.external_errors is not None
        or job.retry_with is not None
        or job.not_before is not None
        or job.deadline is not None
        or job.concurrency_key is not None
        or job.queue is not None
        or job.preemptible is not None
        or job.machine is not None
        or job.secrets is not None
        or job.network is not None
        for job in jobs
    )
