"""Operations, in the stores of the api and the driver."""

from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg

from weft.core.access.rights import Permission, UserRole
from weft.ports.store import (
    ACTION,
    BatchQuery,
    Caller,
    JobQuery,
    JobRows,
    Operation,
    Origin,
    Resubmitted,
    Row,
)
from weft.store.database import StorePart
from weft.store.declared import (
    TRACED,
    actor,
    calls,
    documents,
    nothing,
    number,
    truth,
    value,
)
from weft.store.queries import BatchDocuments, found_batches, read_within
from weft.store.queries import job_ids as matching_ids
from weft.store.submission import job_columns


def _arguments(caller: Caller, arguments: Row) -> Row:
    action = ACTION.get()
    asker = {"token_id": action.caller.token_id, "address": action.address} if action else {}
    facts = {"actor": actor(caller), "as_member": not caller.sees_tenant}
    return {**arguments, **asker, **facts}


class OperationCalls(StorePart):
    """Operations as users begin and see them: work in the background."""

    @calls(number, user_id=lambda caller: caller.user_id, arguments=_arguments, **TRACED)
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


PAGE_OPERATIONS = 100


def _resubmitted(rows: Sequence[asyncpg.Record]) -> Resubmitted | None:
    jobs = [row for row in rows if row["job_id"] is not None]
    return Resubmitted(rows[0]["upto"], rows[0]["new_first"], jobs) if rows else None


class Operations(BatchDocuments):
    """A driver's calls for operations."""

    @calls(
        lambda rows: [Operation(**row) for row in rows],
        limit_operations=lambda: PAGE_OPERATIONS,
    )
    async def running_operations(self, epoch: int, above_id: int = 0) -> Sequence[Operation]:
        """Return a page of the running operations above a number, oldest first; empty: no more."""

    async def step(self, function: str, epoch: int, operation_id: int, *, limit: int) -> str:
        """Call a SQL function that does one bounded step of an operation.

        Such a function takes `(epoch, of_operation_id, limit_rows)`, is safe to repeat, and
        returns `moved`, `busy` (rows were locked: try again) or `waits` (for something else).
        Of an operation that is over: `moved`.
        """
        return str(
            await self._database.value(
                function, epoch=epoch, of_operation_id=operation_id, limit_rows=limit
            )
        )

    @calls(truth, operation_id="of_operation_id")
    async def fill_set(
        self,
        epoch: int,
        operation_id: int,
        job_ids: Sequence[int],
        *,
        looked_upto: int,
        sets_max: int,
    ) -> bool:
        """Add jobs to the set of an operation that has examined all jobs up to a number.

        A repeat adds none twice. The step that reaches the operation's `n_total` shows the set and
        ends the operation. Return False if rows were locked: repeat the same step.
        """

    @calls(value, operation_id="of_operation_id", limit="limit_rows")
    async def retry_failed(
        self,
        epoch: int,
        operation_id: int,
        *,
        matching: Sequence[int] | None,
        looked_upto: int | None,
        limit: int,
    ) -> str:
        """Do one step of a retry: at most `limit` jobs run again. Return as `step`.

        Of an operation with a query: `matching` are the jobs up to `looked_upto` that it matches,
        ascending; else both are None. The last step ends the operation; its result is `n_retried`,
        and `n_late` if jobs were left out because of their deadlines.
        """

    @calls(_resubmitted, operation_id="of_operation_id", after="after_job", limit="limit_rows")
    async def list_resubmitted(
        self, epoch: int, operation_id: int, *, after: int, limit: int
    ) -> Resubmitted | None:
        """Return the next jobs, at most `limit`, that a resubmission copies; `after`: the last
        number that was examined before. None: the operation is over.

        Their `parents` are numbers in the new batch, or negative ones of the old batch if they
        are not there (yet).
        """

    @calls(
        nothing,
        operation_id="of_operation_id",
        after="after_job",
        jobs=lambda rows: None if rows is None else job_columns(rows),
    )
    async def add_resubmitted(
        self,
        epoch: int,
        operation_id: int,
        *,
        after: int,
        upto: int,
        job_ids: Sequence[int],
        rows: JobRows | None,
    ) -> None:
        """Add jobs to the new batch of a resubmission: `rows`, which were `job_ids`; None: none.
        It has examined the jobs after `after` up to `upto`. A repeat changes nothing.

        Nobody sees the new batch before the step `copy_batch` that follows the last job.
        """

    async def read_chunks(self, batch_id: int, first_jobs: Sequence[int]) -> Mapping[int, bytes]:
        """Return chunks of specs by their first jobs."""
        rows = await self._database.call(
            "get_chunks", batch_ids=[batch_id] * len(first_jobs), first_jobs=list(first_jobs)
        )
        return {row["first_job"]: row["body"] for row in rows}

    async def matching_jobs(self, tenant_id: int, batch_id: int, query: JobQuery) -> Sequence[int]:
        """Return the numbers of the jobs that a query matches, ascending."""
        return await read_within(
            self._database,
            query.limits,
            lambda connection: matching_ids(connection, tenant_id, batch_id, query),
        )

    async def operation_caller(self, epoch: int, operation_id: int) -> Caller | None:
        """Return who has asked for an operation, with their present role, to act on batches; None:
        they were removed.
        """
        rows = await self._database.call(
            "operation_caller", epoch=epoch, of_operation_id=operation_id
        )
        for tenant_id, user_id, user_name, role in rows:
            return Caller(tenant_id, user_id, user_name, UserRole(role), needs=Permission.EXECUTE)
        return None

    async def find_batches(self, caller: Caller, query: BatchQuery) -> Sequence[Row]:
        """Return matching batches that the caller sees, newest first. Raise `QueryTooSlow`."""
        return await read_within(
            self._database,
            query.limits,
            lambda connection: found_batches(connection, caller, query),
        )

    @calls(
        truth,
        operation_id="of_operation_id",
        batch_id="of_batch_id",
        of_role=lambda caller: caller.role.value,
    )
    async def act_on_batch(
        self, caller: Caller, epoch: int, operation_id: int, batch_id: int, *, n_idle: int
    ) -> bool:
        """Do to a batch what an operation on batches is for, and pass it in the same transaction:
        a repeat does nothing. Batches are passed from the highest number to the lowest.

        `n_idle`: batches in which there was nothing to do, between the last one that was passed
        and this one. Return False, and do nothing, if the operation is over, has passed the batch,
        or the caller's role has changed. Raise what the request of the caller would.
        """

    @calls(truth, operation_id="of_operation_id")
    async def pass_batches(
        self,
        epoch: int,
        operation_id: int,
        *,
        down_to: int,
        n_idle: int,
        skipped: str | None = None,
    ) -> bool:
        """Let an operation on batches pass all down to a number; at 1 it ends.

        `skipped`: the code of the error for which the last one could not be changed. Return False
        if the operation is over or has passed that number.
        """

    @calls(nothing, operation_id="of_operation_id", problem="error")
    async def fail_operation(
        self, epoch: int, operation_id: int, problem: Mapping[str, Any]
    ) -> None:
        """End an operation with an error, given as a problem document. A set that it was filling
        is never shown.
        """
