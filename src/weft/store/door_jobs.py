"""The part of `ApiStore` for jobs that doors keep with documents of their own."""

from collections.abc import Sequence

from weft.core.states import JobState
from weft.ports.store import Caller, Row
from weft.store.database import Database


class DoorJobs:
    """The api's calls about jobs of doors. The methods are documented at the port."""

    _database: Database

    async def find_door_job(
        self, caller: Caller, door: str, foreign_id: str, *, hidden: bool
    ) -> Row | None:
        """Return a job by the id of its door."""
        found: Row | None = await self._database.value(
            "find_door_job", caller=caller, door=door, foreign_id=foreign_id, with_hidden=hidden
        )
        return found

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
        """Return a page of jobs."""
        rows = await self._database.call(
            "list_door_jobs",
            caller=caller,
            door=door,
            of_user_id=caller.user_id,
            before=before,
            states=None if states is None else list(states),
            with_hidden=hidden,
            limit_rows=limit,
        )
        return [row[0] for row in rows]
