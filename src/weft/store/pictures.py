"""The part of `ApiStore` for pictures of batches."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.core.pictures.timeline import AttemptDates
from weft.core.states import JobState
from weft.ports.store import Caller, Row
from weft.store.database import StorePart
from weft.store.declared import calls, documents, filled
from weft.store.documents import all_with_words

_STATES: Final[Mapping[int | None, Any]] = {
    None: None,
    **{int(state): state for state in JobState},
}
"""States by their numbers: to look one up takes less time than to make it."""


class Pictures(StorePart):
    """Dependencies, dates of attempts and the tree of groups."""

    @calls(
        lambda rows: (
            [(row["parent_id"], row["child_id"]) for row in rows if row["child_id"]],
            rows[0]["cut"],
        ),
        limit="limit_rows",
    )
    async def list_edges(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int], *, limit: int
    ) -> tuple[Sequence[tuple[int, int]], bool]:
        """Return the dependencies between these jobs of a batch as pairs of parent and child, and
        whether there are more. `limit`: how many dependencies of these jobs are read. Raise
        `BatchNotFound`.
        """

    @calls(all_with_words, limit="limit_rows")
    async def list_children(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return the documents of the committed jobs that depend directly on a job, in order of
        their numbers above `after`. Raise `JobNotFound`.
        """

    @calls(all_with_words, limit="limit_rows")
    async def list_parents(
        self, caller: Caller, batch_id: int, job_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return the documents of the jobs that a job depends on directly, in order of their
        numbers above `after`. Raise `JobNotFound`.
        """

    @calls(
        lambda rows: (
            [(row["from_id"], row["to_id"], row["n_edges"]) for row in rows if row["n_edges"]],
            rows[0]["sampled"],
        ),
        group_id="of_group_id",
        limit="limit_rows",
    )
    async def list_group_edges(
        self, caller: Caller, batch_id: int, group_id: int, *, limit: int
    ) -> tuple[Sequence[tuple[int, int, int]], bool]:
        """Return how many dependencies lead from one group directly below a group to another: the
        number of the group of parents, that of children, and the count; `group_id` stands for the
        jobs that are in none of them. And whether they are a sample, because there are more than
        `limit`. Raise `GroupNotFound`.
        """

    @calls(
        lambda rows: [
            filled(
                AttemptDates, row, state=_STATES[row["state"]], end_state=_STATES[row["end_state"]]
            )
            for row in rows
        ],
        limit="limit_jobs",
    )
    async def sample_attempts(
        self, caller: Caller, batch_id: int, *, limit: int
    ) -> Sequence[AttemptDates]:
        """Return the dates of jobs and of their last ten attempts, in order: of all jobs, or of
        `limit` whose numbers are spread evenly. Raise `BatchNotFound`.
        """

    @calls(documents, limit="limit_rows")
    async def list_sets(
        self, caller: Caller, batch_id: int, *, after: str, limit: int
    ) -> Sequence[Row]:
        """Return the documents of sets of a batch in order of their names, those after `after`.
        Raise `BatchNotFound`.
        """

    @calls(documents)
    async def list_parent_groups(
        self, caller: Caller, batch_id: int, group_ids: Sequence[int]
    ) -> Sequence[int]:
        """Return which of these groups have groups below them. Raise `BatchNotFound`."""
