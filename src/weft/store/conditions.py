"""The part of `ApiStore` for conditions."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Conditions:
    """The api's calls about conditions. The methods are documented at the port."""

    _database: Database

    async def list_conditions(self, caller: Caller, *, after_id: int, limit: int) -> Sequence[Row]:
        """Return a page of conditions."""
        rows = await self._database.call(
            "list_conditions", caller=caller, after_id=after_id, limit_rows=limit
        )
        return [row[0] for row in rows]

    async def get_condition(self, caller: Caller, condition_id: int, *, limit_jobs: int) -> Row:
        """Return one condition."""
        found: Row = await self._database.value(
            "get_condition", caller=caller, of_condition_id=condition_id,
            limit_jobs=limit_jobs,
        )  # fmt: skip
        return found

    async def test_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver test it now."""
        await self._database.call("test_condition", caller=caller, of_condition_id=condition_id)

    async def release_condition(self, caller: Caller, condition_id: int, n_jobs: int) -> None:
        """Let the driver release some of its jobs."""
        await self._database.call(
            "release_condition", caller=caller, of_condition_id=condition_id,
            n_more=n_jobs,
        )  # fmt: skip

    async def fail_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver end its jobs."""
        await self._database.call(
            "fail_condition", caller=caller, of_condition_id=condition_id,
            actor=f"user {caller.user_name}",
        )  # fmt: skip

    async def unblock_job(self, caller: Caller, batch_id: int, job_id: int) -> bool:
        """Let the driver make a blocked job ready."""
        return bool(
            await self._database.value(
                "unblock_job", caller=caller, batch_id=batch_id, job_id=job_id
            )
        )
