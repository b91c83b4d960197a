"""The routes about what projects and users use, one method each."""

from datetime import date
from urllib.parse import quote

from weft.client.http.calls import Requests
from weft.client.http.group_path import group_segment
from weft.client.http.listing import Document


class UsageRoutes(Requests):
    """`/v1/billing/report`, `/v1/quotas` and `/v1/limits`."""

    async def billing_report(
        self,
        by: str,
        *,
        project: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Document:
        """Return what billing projects cost, divided `by` something. Raise `ProjectNotFound`,
        `ReportTooLarge`.
        """
        days = [None if day is None else day.isoformat() for day in (since, until)]
        query = {"by": by, "project": project, "first_day": days[0], "last_day": days[1]}
        return await self._get("/v1/billing/report", query)

    async def set_quota(self, user: str | None, changes: Document) -> Document:
        """Change `jobs`, `batches`, `cores` or `bytes` of a user's quota, or of each; return it.
        Raise `UserNotFound`.
        """
        path = "/v1/user-quota" if user is None else f"/v1/users/{quote(user, safe='')}/quota"
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
        """Change a limit; return it. Raise `ProjectNotFound`, `UserNotFound`, `BatchNotFound`,
        `GroupNotFound`.
        """
        if project is not None:
            path = f"/v1/billing-projects/{quote(project, safe='')}"
        elif user is not None:
            path = f"/v1/users/{quote(user, safe='')}"
        else:
            path = f"/v1/batches/{batch_id}"
            path += "" if group is None else f"/groups/{group_segment(group)}"
        return await self._patch(f"{path}/limit", changes)
