"""The part of the client that tells what projects and users use."""

from datetime import date
from typing import TYPE_CHECKING

from weft.client.api import Api
from weft.client.http.listing import Document


class UsageCalls:
    """Methods about costs."""

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
