"""What projects and users cost and use, and may use."""

from datetime import date

from weft.client.http.calls import DocumentCalls, segment
from weft.client.http.group_path import group_segment
from weft.client.http.listing import Document


class UsageRoutes(DocumentCalls):
    """Costs, quotas and limits."""

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
        days = [None if day is None else day.isoformat() for day in (since, until)]
        query = {"by": by, "project": project, "first_day": days[0], "last_day": days[1]}
        return await self._get("/v1/billing/report", query)

    async def set_quota(self, user: str | None, changes: Document) -> Document:
        """Change how many `jobs` and `batches` that have not ended, `cores` of running jobs and
        stored `bytes` a user may have, or each user (None): `{"jobs": 100, "cores": None}`; None
        lifts a limit. Raise `RightMissing`, `UserNotFound`.
        """
        path = "/v1/user-quota" if user is None else f"/v1/users/{segment(user, 'user')}/quota"
        return await self._patch(path, changes)

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
        if project is not None:
            path = f"/v1/billing-projects/{segment(project, 'billing project')}"
        elif user is not None:
            path = f"/v1/users/{segment(user, 'user')}"
        else:
            path = f"/v1/batches/{batch_id}"
            path += "" if group is None else f"/groups/{group_segment(group)}"
        return await self._patch(f"{path}/limit", changes)
