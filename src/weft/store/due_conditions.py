"""The part of `DriverStore` for conditions."""

from collections.abc import Sequence
from datetime import timedelta

from weft.core.conditions import Tested
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

    async def postpone_blocked(self, epoch: int, condition_id: int, *, limit_jobs: int) -> int:
        """Let jobs wait on."""
        return int(
            await self._database.value(
                "postpone_blocked", epoch=epoch, of_condition_id=condition_id,
                limit_jobs=limit_jobs,
            )
        )  # fmt: skip

    async def record_test(self, epoch: int, condition_id: int, tested: Tested) -> None:
        """Record what a test said."""
        await self._database.call(
            "record_test", epoch=epoch, of_condition_id=condition_id,
            has_passed=tested.passed, said=tested.message,
        )  # fmt: skip
