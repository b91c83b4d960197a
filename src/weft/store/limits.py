"""Limits of what is used, in the stores of the api and the driver."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import asyncpg

from weft.core.billing.spending import Measure, Spending, Stage
from weft.ports.store import Caller, Row
from weft.ports.store.queries import Admitted, Limit, Limited
from weft.store.database import StorePart
from weft.store.declared import calls, documents, filled, truth, value


def _limits(rows: Sequence[asyncpg.Record]) -> Sequence[Limit]:
    return [
        filled(
            Limit,
            row,
            measure=Measure(row["measure"]),
            spending=filled(Spending, row, stage=Stage(row["stage"])),
        )
        for row in rows
    ]


class LimitRounds(StorePart):
    """What a driver does with limits. The sweep `apply_limits` makes batches and groups agree with
    their stages, and `weigh_users` the weights of users in fair share.
    """

    @calls(_limits)
    async def limit_rounds(self, epoch: int) -> Sequence[Limit]:
        """Return limits with what was used of them by now, but for those of complete groups."""

    @calls(
        truth,
        stage=("stage", str),
        limit_id=lambda limit: limit.limit_id,
        version=lambda limit: limit.version,
    )
    async def judge_limit(self, epoch: int, limit: Limit, stage: Stage, *, near: bool) -> bool:
        """Store how far a limit is used; return False if it was changed meanwhile.

        From then on no batch of a project or user at or near its limit gets ready jobs without
        being held; the sweep holds those that have some.
        """

    @calls(
        lambda rows: [Admitted(*row) for row in rows],
        limit_ids=lambda rooms: [*rooms],
        rooms=lambda rooms: [*rooms.values()],
    )
    async def admit_at_limits(
        self, epoch: int, rooms: Mapping[int, Decimal], *, limit_jobs: int
    ) -> Sequence[Admitted]:
        """Let waiting jobs start that fit below limits that are near: `rooms` says how much more
        may be used in an hour, by the number of the limit. Return what came of each.
        """


class Limits(StorePart):
    """What the api does with limits."""

    @calls(
        value,
        kind=lambda of: of.kind,
        of_name=lambda of: of.name,
        of_batch_id=lambda of: of.batch_id,
        measure=("measure", str),
        group_id=lambda of: of.group if isinstance(of.group, int) else None,
        path=lambda of: of.group if isinstance(of.group, str) else None,
    )
    async def set_limit(
        self, caller: Caller, of: Limited, measure: Measure, patch: Mapping[str, Any]
    ) -> Row:
        """Change `amount_max`, `amount_soft_max` (None: none) or `on_limit` (`pause`, `cancel`);
        return the limit. Raise `ProjectNotFound`, `UserNotFound`, `BatchNotFound`,
        `GroupNotFound`; `SoftLimitAboveLimit`, also by the one of the two that is stored.
        """

    @calls(
        documents,
        batch_id="of_batch_id",
        limit="limit_rows",
        of_user_id=lambda caller: None if caller.sees_tenant else caller.user_id,
    )
    async def list_limits(
        self, caller: Caller, batch_id: int | None, *, after: int, limit: int
    ) -> Sequence[Row]:
        """Return limits in the order of their ids, of one batch with what it belongs to, or of
        all; for somebody who does not see the tenant, their own, those of their billing projects
        and those of batches that they see. Raise `BatchNotFound`.
        """
