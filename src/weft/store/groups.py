"""Groups, in the api's store."""

from collections.abc import Sequence

from weft.ports.store import Caller, EditLimits, Patch, Row
from weft.store.database import StorePart
from weft.store.declared import (
    GROUP,
    actor,
    calls,
    documents,
    number,
    truth,
    user_id,
    value,
)


class Groups(StorePart):
    """Groups of batches; group 0 is the batch. Each change is recorded with its time and actor.

    A call that names a group raises `GroupNotFound`.
    """

    @calls(documents, limit="limit_rows")
    async def list_groups(
        self, caller: Caller, batch_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return group documents in order of their numbers, those above `after`.

        -1 starts at the root.
        """

    @calls(documents, group_id="of_group_id", limit="limit_rows")
    async def list_child_groups(
        self, caller: Caller, batch_id: int, group_id: int, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return the documents of the groups directly below a group, as `list_groups` does. Raise
        `GroupNotFound`.
        """

    @calls(value, **GROUP)
    async def get_group(self, caller: Caller, batch_id: int, group: int | str) -> Row:
        """Return one group document, by number or by path. Raise `GroupNotFound`."""

    @calls(truth, actor=actor)
    async def cancel_group(
        self, caller: Caller, batch_id: int, group_id: int, *, force: bool
    ) -> bool:
        """Cancel a group with everything below it (0: the batch): no claim of it commits
        afterwards, and the workers of its running jobs are notified.

        `force`: also the jobs that run always. Return False if it was already cancelled in this
        way. Raise `GroupNotFound`.
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

    @calls(documents, limit="limit_rows")
    async def group_history(
        self, caller: Caller, batch_id: int, group_id: int, *, before: int | None, limit: int
    ) -> Sequence[Row]:
        """Return the changes that people made to a group, newest first, numbers below `before`."""
