"""Why jobs wait."""

from collections.abc import Sequence
from typing import Protocol

from weft.core.why import GroupFacts, JobFacts
from weft.ports.store.callers import Caller


class WhyStore(Protocol):
    """Facts from which `weft.core.why` makes sentences, all of one moment.

    They take the same time however many jobs there are.
    """

    async def why_job(self, caller: Caller, batch_id: int, job_id: int) -> JobFacts:
        """Return what keeps a job from running. Raise `JobNotFound`."""

    async def why_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Sequence[JobFacts]:
        """Return the same of several jobs, by number, as far as they exist."""

    async def why_group(self, caller: Caller, batch_id: int, group: int | str) -> GroupFacts:
        """Return the counts of a group, with facts of a few of its jobs that are ready or failed.
        Raise `GroupNotFound`.
        """
