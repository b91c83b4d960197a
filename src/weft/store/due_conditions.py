"""The part of `DriverStore` for conditions."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from weft.core.ends.conditions import Tested
from weft.ports.store import DueCondition
from weft.store.database import Database


class DueConditions:
    """The driver's calls about conditions. The methods are documented at the port."""

    _database: Database

    async def conditions_due(self, epoch: int, busy: Sequence[int]) -> float | None:
        """Return in how many seconds the conditions loop has something to do."""
        distance: timedelta | None = await self._database.value(
            "conditions_due", epoch=epoch, busy=list(busy)
        )
        return None if distance is None else distance.total_seconds()

    async def due_conditions(
        self, epoch: int, busy: Sequence[int], *, limit: int
    ) -> Sequence[DueCondition]:
        """Return the conditions that are due."""
        rows = await self._database.call(
            "due_conditions", epoch=epoch, busy=list(busy), limit_rows=limit
        )
        return [DueCondition(**row) for row in rows]

    async def postpone_conditions(
        self, epoch: int, condition_ids: Sequence[int], *, limit_jobs: int, due_s: float = 0.0
    ) -> int:
        """Let jobs wait on."""
        return int(
            await self._database.value(
                "postpone_conditions", epoch=epoch, condition_ids=list(condition_ids),
                limit_jobs=limit_jobs, due_s=due_s,
            )
        )  # fmt: skip

    async def record_tests(self, epoch: int, tested: Mapping[int, Tested]) -> Sequence[int]:
        """Record what tests said."""
        rows = await self._database.call(
            "record_tests", epoch=epoch, condition_ids=list(tested),
            have_passed=[one.passed for one in tested.values()],
            messages=[one.message for one in tested.values()],
        )  # fmt: skip
        return [row[0] for row in rows]

    async def test_pool(self, epoch: int, condition_id: int, pool: str, free_cpu_m: int) -> Tested:
        """Look at a pool."""
        (row,) = await self._database.call(
            "test_pool", epoch=epoch, of_condition_id=condition_id, of_pool=pool,
            free_cpu_m=free_cpu_m,
        )  # fmt: skip
        return Tested(passed=row["passed"], message=row["message"])

    async def test_gateway(self, epoch: int, condition_id: int, gateway: str) -> Tested:
        """Look at a gateway."""
        (row,) = await self._database.call(
            "test_gateway", epoch=epoch, of_condition_id=condition_id, of_worker=gateway
        )
        return Tested(passed=row["passed"], message=row["message"])
