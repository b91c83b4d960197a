"""The routes about what projects and users use, one method each."""

from datetime import date

from weft.client.http.calls import Requests
from weft.client.http.listing import Document


class UsageRoutes(Requests):
    """`/v1/billing/report`."""

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
