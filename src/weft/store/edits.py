"""The parts of `ApiStore` that change existing batches, groups and jobs, make and fill sets, and
report on operations.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.core.errors import Unavailable
from weft.ports.store import ACTION, Caller, EditLimits, GroupLimits, NewSet, Origin, Patch, Row
from weft.store.database import StorePart
from weft.store.declared import (
    TRACED,
    Made,
    actor,
    calls,
    documents,
    number,
    parts,
    truth,
    user_id,
    value,
)


class Edits(StorePart):
    """Edits and holds. Each is recorded with its time and actor.

    A call that names a group raises `GroupNotFound`.
    """

    @calls(
        truth,
        attributes_max=lambda limits: limits.attributes_max,
        groups_max=lambda limits: limits.rename_groups_max,
        actor=actor,
    )
    async def edit_group(
        self, caller: Caller, batch_id: int, group_id: int, *, patch: Patch, limits: EditLimits
    ) -> bool:
        """Change name and attributes of a group; of group 0: of its batch.

        Return whether anything changed; a repeat changes nothing. Raise `GroupExists` for a name
        that is taken, `InvalidValue` for too many attributes, `RenameTooLarge` if too many paths
        would change.
        """

    @calls(
        number,
        user_id=user_id,
        attributes_max=lambda limits: limits.attributes_max,
        groups_max=lambda limits: limits.rename_groups_max,
        actor=actor,
    )
    async def prioritize_group(
        self,
        caller: Caller,
        batch_id: int,
        group_id: int,
        *,
        patch: Patch,
        limits: EditLimits,
        trace_id: str,
    ) -> int:
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
        self,
        caller: Caller,
        batch_id: int,
        origin: Origin,
        *,
        job_ids: Sequence[int] | None = None,
        query: str | None = None,
        within_group: int | None = None,
        cause_id: int | None = None,
    ) -> int:
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
        number,
        user_id=user_id,
        changes=lambda changes: {"batch": {}, **changes},
        actor=actor,
        **TRACED,
    )
    async def resubmit_batch(
        self,
        caller: Caller,
        batch_id: int,
        origin: Origin,
        *,
        failed: bool,
        changes: Mapping[str, Any],
    ) -> int:
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


ROUNDS_MAX = 200
ROUND_S = 0.02
"""A row is held for the time of one call."""


_NEW_SET: Final[Mapping[str, Made]] = {
    **parts("new", "name", "callback", cancel_after="cancel_after_n_failures"),
    "attributes": lambda new: dict(new.attributes),
    "groups_max": lambda self: self._limits.batch_groups_max,
}
"""What is sent of a new set."""


def _arguments(caller: Caller, arguments: Row) -> Row:
    action = ACTION.get()
    asker = {"token_id": action.caller.token_id, "address": action.address} if action else {}
    facts = {"actor": actor(caller), "as_member": not caller.sees_tenant}
    return {**arguments, **asker, **facts}


class SetGroups(StorePart):
    """Sets: groups filled by hand or by a query; operations: work in the background."""

    _limits: GroupLimits

    @calls(
        lambda rows: (rows[0]["group_id"], rows[0]["is_new"]), is_hidden=lambda: False, **_NEW_SET
    )
    async def create_set(self, caller: Caller, batch_id: int, new: NewSet) -> tuple[int, bool]:
        """Create an empty set; return its number and whether it is new.

        A set of this name that was made in the same way is no error. Raise `GroupExists` for
        another one, `BatchCancelled`, `TooManyGroups`.
        """

    @calls(
        number,
        user_id=user_id,
        sets_max=lambda self: self._limits.job_sets_max,
        **_NEW_SET,
        **TRACED,
    )
    async def create_query_set(
        self,
        caller: Caller,
        batch_id: int,
        new: NewSet,
        origin: Origin,
        *,
        query: str,
        within_group: int | None = None,
    ) -> int:
        """Begin to fill a set with the existing jobs that the query finds.

        Return the operation. The set becomes visible when it is complete. Raises as `create_set`.
        """

    @calls(number, user_id=user_id, actor=actor, **TRACED)
    async def delete_batch(self, caller: Caller, batch_id: int, origin: Origin) -> int:
        """Begin to remove a batch, and return the operation. From now on there is no such batch;
        its running jobs are stopped.

        A repeat with the same key returns the same operation; another one raises
        `BatchNotFound`.
        """

    async def add_members(
        self, caller: Caller, batch_id: int, group_id: int, job_ids: Sequence[int]
    ) -> int:
        """Put jobs into a set; return how many were not in it before. A repeat does no harm.

        Raise `JobNotFound`, `GroupNotFound`, `NotASet`, `BatchCancelled` (the set was),
        `TooManySets`.
        """
        left, added = list(job_ids), 0
        for _ in range(ROUNDS_MAX):
            (row,) = await self._database.call(
                "add_members",
                caller=caller,
                batch_id=batch_id,
                group_id=group_id,
                job_ids=left,
                sets_max=self._limits.job_sets_max,
            )
            added += int(row["n_added"])
            left = row["busy"]
            if not left:
                return added
            await asyncio.sleep(random.uniform(0, ROUND_S))  # noqa: S311 (jitter)
        raise Unavailable(
            "some jobs of the request are busy",
            detail=f"{added} were added; {len(left)} are being changed by other requests.",
            hint="Send the request again.",
        )

    @calls(number, user_id=user_id, arguments=_arguments, **TRACED)
    async def begin_batch_action(self, caller: Caller, arguments: Row, origin: Origin) -> int:
        """Begin to do something to many batches; return the operation. `arguments`: the `action`,
        and a `query` or the numbers of `batches`. A repeat with the same key returns the same
        operation; another one raises `IdempotencyKeyReused`.
        """

    @calls(value, operation_id="of_operation_id")
    async def cancel_operation(self, caller: Caller, operation_id: int) -> Row:
        """End an operation on many batches where it is; return its document. Raise
        `OperationNotFound`, `OperationNotCancellable`.
        """

    @calls(value, operation_id="of_operation_id")
    async def get_operation(self, caller: Caller, operation_id: int) -> Row:
        """Return the operation document. Raise `OperationNotFound`."""

    @calls(documents, limit="limit_rows", batch_id="of_batch_id")
    async def list_operations(
        self, caller: Caller, *, before: int | None, limit: int, batch_id: int | None
    ) -> Sequence[Row]:
        """Return operation documents, newest first, below `before`; of one batch if given."""
