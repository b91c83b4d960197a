"""The parts of `DriverStore` and `ApiStore` for limits of what is used."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from weft.core.billing.spending import Measure, Spending, Stage
from weft.ports.store import Caller, Row
from weft.ports.store.spending import Admitted, Limit, Limited
from weft.store.database import StorePart
from weft.store.declared import calls, documents, truth


class LimitRounds(StorePart):
    """What a driver does with limits. The sweep `apply_limits` makes batches and groups agree with
    their stages, and `weigh_users` the weights of users in fair share.
    """

    async def limit_rounds(self, epoch: int) -> Sequence[Limit]:
        """Return limits with what was used of them by now, but for those of complete groups."""
        return [
            Limit(
                row["limit_id"],
                row["version"],
                row["is_new"],
                row["kind"],
                row["name"],
                Measure(row["measure"]),
                row["tenant"],
                row["on_limit"],
                Spending(
                    amount_max=row["amount_max"],
                    amount_soft_max=row["amount_soft_max"],
                    used=row["used"],
                    used_per_hour=row["used_per_hour"],
                    stage=Stage(row["stage"]),
                    near=row["near"],
                    could_use_per_hour=row["could_use_per_hour"],
                    admitted_per_hour=row["admitted_per_hour"],
                ),
            )
            for row in await self._database.call("limit_rounds", epoch=epoch)
        ]

    @calls(
        truth, stage=("stage", str), limit_id=lambda limit: limit.limit_id,
        version=lambda limit: limit.version,
    )  # fmt: skip
    async def judge_limit(self, epoch: int, limit: Limit, stage: Stage, *, near: bool) -> bool:
        """Store how far a limit is used; return False if it was changed meanwhile.

        From then on no batch of a project or user at or near its limit gets ready jobs without
        being held; the sweep holds those that have some.
        """

    async def admit_at_limits(
        self, epoch: int, rooms: Mapping[int, Decimal], *, limit_jobs: int
    ) -> Sequence[Admitted]:
        """Let waiting jobs start that fit below limits that are near: `rooms` says how much more
        may be used in an hour, by the number of the limit. Return what came of each.
        """
        rows = await self._database.call(
            "admit_at_limits",
            epoch=epoch,
            limit_ids=list(rooms),
            rooms=list(rooms.values()),
            limit_jobs=limit_jobs,
        )
        return [Admitted(row["limit_id"], row["n_admitted"], row["is_short"]) for row in rows]


class Limits(StorePart):
    """What the api does with limits."""

    async def set_limit(
        self, caller: Caller, of: Limited, measure: Measure, patch: Mapping[str, Any]
    ) -> Row:
        """Change `amount_max`, `amount_soft_max` (None: none) or `on_limit` (`pause`, `cancel`);
        return the limit. Raise `ProjectNotFound`, `UserNotFound`, `BatchNotFound`,
        `GroupNotFound`; `SoftLimitAboveLimit`, also by the one of the two that is stored.
        """
        document: Row = await self._database.value(
            "set_limit",
            caller=caller,
            kind=of.kind,
            of_name=of.name,
            of_batch_id=of.batch_id,
            group_id=of.group if isinstance(of.group, int) else None,
            path=of.group if isinstance(of.group, str) else None,
            measure=str(measure),
            patch=patch,
        )
        return document

    @calls(
        documents, batch_id="of_batch_id", limit="limit_rows",
        of_user_id=lambda caller: None if caller.sees_tenant else caller.user_id,
    )  # fmt: skip
    async def list_limits(
        self, caller: Caller, batch_id: int | None, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return limits in the order of their ids, of one batch with what it belongs to, or of
        all; for somebody who does not see the tenant, their own, those of their billing projects
        and those of batches that they see. Raise `BatchNotFound`.
        """
