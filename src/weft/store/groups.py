"""The part of `ApiStore` that makes and fills sets and reports on operations."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Final

from weft.core.errors import Unavailable
from weft.ports.store import ACTION, Caller, GroupLimits, NewSet, Origin, Row
from weft.store.database import StorePart
from weft.store.declared import (
    TRACED,
    Made,
    actor,
    calls,
    documents,
    number,
    parts,
    user_id,
    value,
)

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
        number, user_id=user_id, sets_max=lambda self: self._limits.job_sets_max, **_NEW_SET,
        **TRACED,
    )  # fmt: skip
    async def create_query_set(
        self, caller: Caller, batch_id: int, new: NewSet, origin: Origin, *, query: str,
        within_group: int | None = None,
    ) -> int:  # fmt: skip
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
