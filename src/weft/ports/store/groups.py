"""The calls of the api for sets and operations."""

from collections.abc import Sequence
from typing import Protocol

from weft.ports.store.callers import Caller, Row
from weft.ports.store.submitted import NewSet


class SetGroupStore(Protocol):
    """Sets: groups filled by hand or by a query; operations: work in the background."""

    async def create_set(self, caller: Caller, batch_id: int, new: NewSet) -> tuple[int, bool]:
        """Create an empty set; return its number and whether it is new.

        A set of this name that was made in the same way is no error. Raise `GroupExists` for
        another one, `BatchCancelled`, `TooManyGroups`.
        """

    async def create_query_set(
        self,
        caller: Caller,
        batch_id: int,
        new: NewSet,
        *,
        query: str,
        within_group: int | None,
        trace_id: str,
        idempotency_key: str | None,
        digest: bytes,
    ) -> int:
        """Begin to fill a set with the existing jobs that the query finds.

        Return the operation. The set becomes visible when it is complete. Raises as `create_set`.
        """

    async def delete_batch(
        self,
        caller: Caller,
        batch_id: int,
        *,
        trace_id: str,
        idempotency_key: str | None,
        digest: bytes,
    ) -> int:
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

    async def begin_batch_action(
        self,
        caller: Caller,
        arguments: Row,
        *,
        trace_id: str,
        idempotency_key: str | None,
        digest: bytes,
    ) -> int:
        """Begin to do something to many batches; return the operation. `arguments`: the `action`,
        and a `query` or the numbers of `batches`. A repeat with the same key returns the same
        operation; another one raises `IdempotencyKeyReused`.
        """

    async def cancel_operation(self, caller: Caller, operation_id: int) -> Row:
        """End an operation on many batches where it is; return its document. Raise
        `OperationNotFound`, `OperationNotCancellable`.
        """

    async def get_operation(self, caller: Caller, operation_id: int) -> Row:
        """Return the operation document. Raise `OperationNotFound`."""

    async def list_operations(
        self, caller: Caller, *, before: int | None, limit: int, batch_id: int | None
    ) -> Sequence[Row]:
        """Return operation documents, newest first, below `before`; of one batch if given."""
