"""The part of the client that tells what projects and users use, and how the site is."""

from datetime import date
from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document


class UsageCalls:
    """Methods about costs, quotas, limits, what happened of late, and the whole site."""

    if TYPE_CHECKING:
        api: Api

    async def billing_report(
        self,
        by: str = "project",
        *,
        project: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Document:
        """Return what billing projects cost, by `project`, `user`, `day`, `resource` or
        `attribute=KEY` of their batches; costs are exact decimals, as texts. `since`, `until`:
        only usage on these dates (UTC) and between them. Raise `ProjectNotFound`,
        `ReportTooLarge`.
        """
        return await self.api.billing_report(by, project=project, since=since, until=until)

    async def list_shares(self, pool: str) -> list[Document]:
        """Return the users with work in a pool, who is served next first: `user, weight, n_ready,
        ready_cpu, running_cpu, fair_cpu`, the last as if the cores in use were shared fairly.
        Users who do not see the tenant get their own. Raise `PoolNotFound`.
        """
        return await self.api.list_shares(pool)

    async def set_quota(self, user: str | None, changes: Document) -> Document:
        """Change how many `jobs` and `batches` that have not ended, `cores` of running jobs and
        stored `bytes` a user may have, or each user (None): `{"jobs": 100, "cores": None}`; None
        lifts a limit. Raise `RightMissing`, `UserNotFound`.
        """
        return await self.api.set_quota(user, changes)

    async def set_limit(
        self,
        changes: Document,
        *,
        project: str | None = None,
        user: str | None = None,
        batch_id: int | None = None,
        group: int | str | None = None,
    ) -> Document:
        """Limit what a billing project, a user, a batch or one of its groups uses:
        `{"measure": "cpu", "amount_max": 1000}`, with any of `amount_max`, `amount_soft_max` (None
        lifts them) and `on_limit`, in money (`cost`, the default) or in hours of `cpu`, `memory`,
        `storage` or `gpu`. Raise `RightMissing`, `ProjectNotFound`, `UserNotFound`,
        `BatchNotFound`, `GroupNotFound`, `SoftLimitAboveLimit`.
        """
        return await self.api.set_limit(
            changes, project=project, user=user, batch_id=batch_id, group=group
        )
