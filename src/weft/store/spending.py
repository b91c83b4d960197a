"""The parts of `DriverStore` and `ApiStore` for what may be used: limits, quotas, licences."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import asyncpg

from weft.core.access.actors import shown_actor, site_actor
from weft.core.access.rights import Right
from weft.core.billing.spending import Measure, Spending, Stage
from weft.ports.store import Caller, Row
from weft.ports.store.queries import Admitted, Limit, Limited
from weft.store.database import StorePart
from weft.store.declared import actor, calls, documents, filled, truth, value
from weft.store.fleet import pools_of


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
    """What the api does with limits. How many jobs may use a licence at a time.

    How much users may have: jobs that have not ended, batches that have such jobs or none yet,
    cores of running jobs, and bytes that are stored.

    A submission, a new batch, a commit, or what is sent before one raises `QuotaExceeded` if it
    would exceed a quota, and changes nothing; those at the same time count each other. What a user
    has is what their batches have. Jobs that
    were submitted while there was a quota of cores are not offered while it is used; one that asks
    for more than all of it is refused. Stored are specs and payloads that were sent, and what
    attempts that have ended have written; the last may exceed the quota, then nothing more comes.

    Parameters of a tenant. A row has `parameter`, `version`, `type`, `value`, `set_at`,
    `set_by`, `setup`.
    """

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

    @calls(documents, of_user_id=lambda caller: None if caller.sees_tenant else caller.user_id)
    async def list_quotas(self, caller: Caller) -> Sequence[Row]:
        """Return `kind, name`, the limits `jobs, batches, cores, bytes`, and what is used of them,
        `n_jobs, n_batches, n_cores, n_bytes`, of the tenant, of each user, and of users; only
        their own for somebody who does not see the tenant.
        """

    @calls(value, user="of_name")
    async def set_quota(self, caller: Caller, user: str | None, patch: Mapping[str, Any]) -> Row:
        """Change `jobs`, `batches`, `cores` or `bytes` (None: no limit) of a user, or of each;
        return the limits. What is there stays. Raise `UserNotFound`.
        """

    @calls(value, caller=None, tenant="of_name")
    async def set_tenant_quota(self, caller: Caller, tenant: str, patch: Mapping[str, Any]) -> Row:
        """Change `jobs`, `batches`, `cores` or `bytes` of all users of a tenant together; return
        the limits. Raise `TenantNotFound`.
        """

    async def list_licences(self, caller: Caller) -> Sequence[Row]:
        """Return the licences by name: `licence`, `n`, `n_used`, `set_at`, `set_by` (for users
        of other tenants `site administrator`).
        """
        tenant = pools_of(caller)
        return [
            {**row[0], "set_by": shown_actor(row[0]["set_by"], to_tenant_id=tenant)}
            for row in await self._database.call("list_licences")
        ]

    @calls(lambda rows: {row["name"]: row["n"] for row in rows})
    async def licence_limits(self) -> Mapping[str, int]:
        """Return how many there are of each licence."""

    async def set_licence(self, caller: Caller, name: str, n: int) -> None:
        """Say how many there are. If fewer than jobs have, those go on and no other gets one."""
        actor = site_actor(caller.user_name, tenant_id=caller.tenant_id)
        await self._database.call("set_licence", of_name=name, count=n, actor=actor)

    @calls(truth, name="of_name")
    async def remove_licence(self, name: str) -> bool:
        """Forget a licence; return whether there was one. Jobs that wait for it go on waiting."""

    @calls(
        value,
        name="of_name",
        actor=actor,
        by_user=lambda caller: None if caller.may(Right.MANAGE) else caller.user_id,
    )
    async def set_parameter(
        self,
        caller: Caller,
        name: str,
        value: Any,  # noqa: ANN401 (JSON)
        of_type: str | None,
    ) -> Row:
        """Give it a value from now on; return it. The same value again is no new version. Raise
        `ParameterOfOtherType`, and `RightMissing` if it chooses what a source of others runs.
        """

    @calls(documents, limit="limit_rows")
    async def list_parameters(
        self,
        caller: Caller,
        *,
        names: Sequence[str] | None,
        as_of: datetime | None,
        after: str,
        limit: int,
    ) -> Sequence[Row]:
        """Return a page of the parameters, or of these, in the order of their names, as they were
        at a date; None: as they are.
        """

    @calls(documents, name="of_name", limit="limit_rows")
    async def list_versions(
        self, caller: Caller, name: str, *, before: int | None, limit: int
    ) -> Sequence[Row]:
        """Return a page of its versions, the newest first. Raise `ParameterNotFound`."""
