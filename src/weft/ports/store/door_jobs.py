"""The calls of the api about jobs that doors keep with documents of their own."""

from collections.abc import Sequence
from typing import Protocol

from weft.core.states import JobState
from weft.ports.store.callers import Caller, Row


class DoorJobStore(Protocol):
    """Jobs of doors, for whom they are: the owner, those to whom they were granted, and whoever
    sees the tenant. Members of their billing projects do not see them here.
    """

    async def find_door_job(
        self, caller: Caller, door: str, foreign_id: str, *, hidden: bool
    ) -> Row | None:
        """Return a job by the id of the door, with what happened to it; `hidden`: also if lists
        leave it out. None: there is none for the caller. Raise `PermissionMissing` if what they
        were granted is not what the caller needs.
        """

    async def list_door_jobs(
        self,
        caller: Caller,
        door: str,
        *,
        before: int,
        states: Sequence[JobState] | None,
        hidden: bool,
        limit: int,
    ) -> Sequence[Row]:
        """Return the caller's own jobs and those granted to them, the newest first, with numbers
        of batches below one. `states`: None: any. `hidden`: also if lists leave them out.
        """
