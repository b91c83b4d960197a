"""Sets of jobs, in the api's store."""

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Final

from weft.core.errors import Unavailable
from weft.ports.store import Caller, GroupLimits, NewSet, Origin
from weft.store.database import StorePart
from weft.store.declared import (
    TRACED,
    Made,
    calls,
    number,
    parts,
    user_id,
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


class Sets(StorePart):
    """Sets: groups filled by hand or by a query."""

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
