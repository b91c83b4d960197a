"""What pictures of batches show. Each call reads a bounded number of rows, however large a batch
is.
"""

from collections.abc import Sequence
from typing import Protocol

from weft.core.pictures.timeline import AttemptDates
from weft.ports.store.callers import Caller, Row


class PictureStore(Protocol):
    """Dependencies, dates of attempts and the tree of groups."""

    async def list_edges(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], *, limit: int
    ) -> tuple[Sequence[tuple[int, int]], bool]:
        """Return the dependencies between these jobs of a batch as pairs of parent and child, and
        whether there are more. `limit`: how many dependencies of these jobs are read. Raise
        `BatchNotFound`.
        """

    async def list_children(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return the documents of the committed jobs that depend directly on a job, in order of
        their numbers above `after`. Raise `JobNotFound`.
        """

    async def list_parents(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return the documents of the jobs that a job depends on directly, in order of their
        numbers above `after`. Raise `JobNotFound`.
        """

    async def list_group_edges(
        self, caller: Caller, batch_id: int, group_id: int, *, limit: int
    ) -> tuple[Sequence[tuple[int, int, int]], bool]:
        """Return how many dependencies lead from one group directly below a group to another: the
        number of the group of parents, that of children, and the count; `group_id` stands for the
        jobs that are in none of them. And whether they are a sample, because there are more than
        `limit`. Raise `GroupNotFound`.
        """

    async def sample_attempts(
        self, caller: Caller, batch_id: int, *, limit: int
    ) -> Sequence[AttemptDates]:
        """Return the dates of jobs and of their last ten attempts, in order: of all jobs, or of
        `limit` whose numbers are spread evenly. Raise `BatchNotFound`.
        """

    async def list_sets(
        self, caller: Caller, batch_id: int, *, after: str, limit: int
    ) -> Sequence[Row]:
        """Return the documents of sets of a batch in order of their names, those after `after`.
        Raise `BatchNotFound`.
        """

    async def list_parent_groups(
        self, caller: Caller, batch_id: int, group_ids: Sequence[int]
    ) -> Sequence[int]:
        """Return which of these groups have groups below them. Raise `BatchNotFound`."""
