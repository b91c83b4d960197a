"""The part of `DriverStore` for conditions."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from weft.core.ends.conditions import Tested
from weft.ports.store import DueCondition
from weft.store.database import Database


class DueConditions:
    """The driver's calls about conditions."""

    _database: Database

    async def conditions_due(self, epoch: int, busy: Sequence[int]) -> float | None:
        """Return in how many seconds a condition needs the driver, as `gates_due`; without those
        that are `busy`.
        """
        distance: timedelta | None = await self._database.value(
            "conditions_due", epoch=epoch, busy=list(busy)
        )
        return None if distance is None else distance.total_seconds()

    async def due_conditions(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueCondition]:
        """Return the conditions that are to be tested, the longest due first, until `record_tests`
        says how it went. `busy`: those whose tests are under way; they are not returned again.

        A condition without jobs is over: it is removed instead, and returned as that.
        """
        rows = await self._database.call(
            "due_conditions", epoch=epoch, busy=list(busy), limit_rows=limit
        )
        return [DueCondition(**row) for row in rows]

    async def postpone_conditions(
        self, epoch: int, condition_ids: Sequence[int], *, limit_jobs: int, due_s: float = 0.0
    ) -> int:
        """Let jobs of conditions that are due wait on, each by its own policy, as their tests have
        not passed; give up those that have waited too long. Return how many; 0: nothing is left.

        `due_s`: only jobs that have been due for so long. Of many jobs the first may be due again
        before the last one waits on.
        """
        return int(
            await self._database.value(
                "postpone_conditions", epoch=epoch, condition_ids=list(condition_ids),
                limit_jobs=limit_jobs, due_s=due_s,
            )
        )  # fmt: skip

    async def record_tests(self, epoch: int, tested: Mapping[int, Tested]) -> Sequence[int]:
        """Note what tests said, and when the conditions are tested next. Where one passed, the
        sweep `release_conditions` lets a few jobs go on; after the next test that passes twice as
        many, unless a job has come to the condition meanwhile. Return the conditions at which it
        said something else than the last time.
        """
        rows = await self._database.call(
            "record_tests", epoch=epoch, condition_ids=list(tested),
            have_passed=[one.passed for one in tested.values()],
            messages=[one.message for one in tested.values()],
        )  # fmt: skip
        return [row[0] for row in rows]

    async def test_pool(self, epoch: int, condition_id: int, pool: str, free_cpu_m: int) -> Tested:
        """Say whether a pool that serves the tenant of a condition has a worker that takes jobs
        and has this much free; 0: any.
        """
        (row,) = await self._database.call(
            "test_pool", epoch=epoch, of_condition_id=condition_id, of_pool=pool,
            free_cpu_m=free_cpu_m,
        )  # fmt: skip
        return Tested(passed=row["passed"], message=row["message"])

    async def test_gateway(self, epoch: int, condition_id: int, gateway: str) -> Tested:
        """Say whether the engine of a gateway, which serves the tenant of a condition, has
        answered what was submitted to it; a gateway that is silent or gone passes.
        """
        (row,) = await self._database.call(
            "test_gateway", epoch=epoch, of_condition_id=condition_id, of_worker=gateway
        )
        return Tested(passed=row["passed"], message=row["message"])
