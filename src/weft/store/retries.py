"""Retries of jobs, in the api's store."""

from collections.abc import Mapping, Sequence
from typing import Any

from weft.ports.store import Caller, Origin
from weft.store.database import StorePart
from weft.store.declared import (
    TRACED,
    actor,
    calls,
    number,
    user_id,
)


class Retries(StorePart):
    """What runs failed jobs again, in place or as a new batch."""

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
