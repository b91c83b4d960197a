"""The part of `ApiStore` that changes existing batches, groups and jobs."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Caller, EditLimits, Origin, Patch, Row
from weft.store.database import StorePart
from weft.store.declared import TRACED, actor, calls, documents, number, truth, user_id


class Edits(StorePart):
    """Edits and holds. Each is recorded with its time and actor.

    A call that names a group raises `GroupNotFound`.
    """

    @calls(
        truth, attributes_max=lambda limits: limits.attributes_max,
        groups_max=lambda limits: limits.rename_groups_max, actor=actor,
    )  # fmt: skip
    async def edit_group(
        self, caller: Caller, batch_id: int, group_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name and attributes of a group; of group 0: of its batch.

        Return whether anything changed; a repeat changes nothing. Raise `GroupExists` for a name
        that is taken, `InvalidValue` for too many attributes, `RenameTooLarge` if too many paths
        would change.
        """

    @calls(
        number, user_id=user_id, attributes_max=lambda limits: limits.attributes_max,
        groups_max=lambda limits: limits.rename_groups_max, actor=actor,
    )  # fmt: skip
    async def prioritize_group(
        self, caller: Caller, batch_id: int, group_id: int, *, patch: Patch, limits: EditLimits,
        trace_id: str,
    ) -> int:  # fmt: skip
        """Begin to give the jobs of a group and below it (0: of the batch) another priority.

        Other fields of the patch change at once. Return the operation. Raise as `edit_group`.
        """

    @calls(truth, attributes_max=lambda limits: limits.attributes_max, actor=actor)
    async def edit_job(
        self, caller: Caller, batch_id: int, job_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name, attributes and priority of a job; return whether anything changed.

        Raise `JobNotFound`, `JobEnded` for a new priority of one that has ended, `InvalidValue`
        for too many attributes.
        """

    @calls(number, user_id=user_id, actor=actor, **TRACED)
    async def retry_jobs(
        self, caller: Caller, batch_id: int, origin: Origin, *,
        job_ids: Sequence[int] | None = None, query: str | None = None,
        within_group: int | None = None, cause_id: int | None = None,
    ) -> int:  # fmt: skip
        """Begin to run again what failed, and what was cancelled because of it; return the
        operation.

        In a whole batch; or only these jobs, also if a person cancelled them; or of the failed
        jobs those that a query matches, those of a group, or those that failed for a cause. Raise
        `JobNotFound`; `JobNotFailed`;
        `ParentFailed` if a job has a parent that did not succeed and is not among them;
        `BatchCancelled`; `IdempotencyConflict` for a key that was used for another request.
        """

    @calls(truth, actor=actor)
    async def hide_batch(self, caller: Caller, batch_id: int, *, hidden: bool) -> bool:
        """Hide a batch from lists, or show it again; return whether anything changed."""

    @calls(
        number, user_id=user_id, changes=lambda changes: {"batch": {}, **changes}, actor=actor,
        **TRACED,
    )  # fmt: skip
    async def resubmit_batch(
        self, caller: Caller, batch_id: int, origin: Origin, *, failed: bool,
        changes: Mapping[str, Any],
    ) -> int:  # fmt: skip
        """Begin to make a new batch from the jobs of a batch; return the operation. Its result has
        the `batch_id` and `n_jobs` of the new batch, which is there when the operation succeeded.

        `failed`: only from what failed, and what was cancelled because of it. `changes`: `batch`
        with `name`, `attributes` and `billing_project`; and what is to be different in all jobs.
        Raise `NothingToResubmit`; with `failed`, `BatchRunning` unless all jobs have ended;
        `ProjectNotFound`; `IdempotencyConflict` for a key that was used for another request.
        """

    @calls(truth, actor=actor)
    async def hold_group(self, caller: Caller, batch_id: int, group_id: int) -> bool:
        """Hold a group with everything below it (0: the batch): no claim of it commits afterwards.

        Running jobs continue. Return False if it was already held.
        """

    @calls(truth, actor=actor)
    async def release_group(self, caller: Caller, batch_id: int, group_id: int) -> bool:
        """Release a group; its jobs may be claimed unless another hold applies.

        Return False if it was not held.
        """

    @calls(lambda rows: {row["job_id"]: row["outcome"] for row in rows}, actor=actor)
    async def hold_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Hold single jobs.

        Return per job `held` or the word of the terminal state it has already. Raise
        `JobNotFound`.
        """

    @calls(lambda rows: {row["job_id"]: row["outcome"] for row in rows}, actor=actor)
    async def release_jobs(
        self, caller: Caller, batch_id: int, job_ids: Sequence[int]
    ) -> Mapping[int, str]:
        """Release single jobs.

        Return per job `released`, `held` (by one of its groups) or the word of its terminal state.
        Raise `JobNotFound`.
        """

    @calls(documents, limit="limit_rows")
    async def group_history(
        self, caller: Caller, batch_id: int, group_id: int, *, before: int | None, limit: int
    ) -> Sequence[Row]:
        """Return the changes that people made to a group, newest first, numbers below `before`."""
