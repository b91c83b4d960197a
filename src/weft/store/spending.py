"""The part of `DriverStore` for limits of what billing projects spend."""

from collections.abc import Sequence

from weft.core.spending import Spending, Stage
from weft.ports.store.spending import Limit
from weft.store.database import Database


class Limits:
    """The driver's calls about limits. The methods are documented at the port."""

    _database: Database

    async def limit_rounds(self, epoch: int) -> Sequence[Limit]:
        """Return all limits."""
        return [
            Limit(
                row["limit_id"],
                row["version"],
                row["is_new"],
                row["project"],
                row["tenant"],
                row["on_limit"],
                Spending(
                    cost_max=row["cost_max"],
                    cost_soft_max=row["cost_soft_max"],
                    spent=row["spent"],
                    cost_per_hour=row["cost_per_hour"],
                    stage=Stage(row["stage"]),
                ),
            )
            for row in await self._database.call("limit_rounds", epoch=epoch)
        ]

    async def judge_limit(self, epoch: int, limit: Limit, stage: Stage) -> bool:
        """Store how far a project is."""
        return bool(
            await self._database.value(
                "judge_limit",
                epoch=epoch,
                limit_id=limit.limit_id,
                version=limit.version,
                stage=str(stage),
            )
        )
