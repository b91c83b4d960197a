"""The part of `ApiStore` for conditions."""

from collections.abc import Sequence

from weft.ports.store import Caller, Row
from weft.store.database import Database


class Conditions:
    """What blocked jobs of a tenant wait for together. Each is forgotten when it is over, and does
    not exist for who sees none of the batches whose jobs wait for it; the methods that name one
    raise `ConditionNotFound` then.
    """

    _database: Database

    async def list_conditions(self, caller: Caller, *, after_id: int, limit: int) -> Sequence[Row]:
        """Return a page of conditions with numbers above `after_id`, oldest first.

        Each has `condition_id`, `condition` (a kind), `tester`, `parameters`, `since`,
        `next_test_at`, `tested_at`, `passed` and `message` of the last test, `n_jobs` (those
        that the caller sees), `n_next` (how many go after the next test that passes) and
        `failed_by`: who has given it up.
        """
        rows = await self._database.call(
            "list_conditions", caller=caller, after_id=after_id, limit_rows=limit
        )
        return [row[0] for row in rows]

    async def get_condition(self, caller: Caller, condition_id: int, *, limit_jobs: int) -> Row:
        """Return one as in the list, with `jobs`: `batch_id`, `job_id`, `blocked_at` and `next_at`
        of those that are due first.
        """
        found: Row = await self._database.value(
            "get_condition", caller=caller, of_condition_id=condition_id,
            limit_jobs=limit_jobs,
        )  # fmt: skip
        return found

    async def test_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver test it now."""
        await self._database.call("test_condition", caller=caller, of_condition_id=condition_id)

    async def release_condition(self, caller: Caller, condition_id: int, n_jobs: int) -> None:
        """Let the driver release some of its jobs, those that are due first; without a test."""
        await self._database.call(
            "release_condition", caller=caller, of_condition_id=condition_id,
            n_more=n_jobs,
        )  # fmt: skip

    async def fail_condition(self, caller: Caller, condition_id: int) -> None:
        """Let the driver end its jobs as errors."""
        await self._database.call(
            "fail_condition", caller=caller, of_condition_id=condition_id,
            actor=f"user {caller.user_name}",
        )  # fmt: skip

    async def unblock_job(self, caller: Caller, batch_id: int, job_id: int) -> bool:
        """Let the driver make a blocked job ready now, whatever it waits for; return whether it
        was blocked. Raise `JobNotFound`.
        """
        return bool(
            await self._database.value(
                "unblock_job", caller=caller, batch_id=batch_id, job_id=job_id
            )
        )
