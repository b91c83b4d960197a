"""Costs and prices, in the api's store."""

from collections.abc import Sequence

from weft.core.access.actors import SITE_ADMINISTRATOR
from weft.ports.store import Caller, ReportPage, ReportQuery, Row
from weft.store.database import StorePart
from weft.store.declared import calls, parts
from weft.store.pools import pools_of


class Billing(StorePart):
    """Reports of costs, and prices."""

    @calls(
        lambda rows: ReportPage(rows[0][0]["items"], rows[0][0]["next"]),
        of_user_id=lambda caller: None if caller.sees_tenant else caller.user_id,
        **parts(
            "query",
            "by",
            "attribute",
            "after",
            of_project="project",
            since="first_day",
            until="last_day",
            limit_rows="limit",
        ),
    )
    async def billing_report(
        self, caller: Caller, query: ReportQuery, *, rows_max: int, projects_max: int | None = None
    ) -> ReportPage:
        """Return `name, kind, cost, cost_by_resource` for each part of the report, in order; costs
        are exact decimals, as texts, and add up to the same sum however the report is divided.

        Operators have all of the tenant, others the projects that they are members of. With
        `limit`: a page of projects, users or days, in the order in which they came to be; other
        divisions have no pages. `rows_max`: sums of batches that a report by attribute may read;
        `projects_max`: projects that may be added up. Raise `ProjectNotFound`, `ReportTooLarge`.
        """

    async def list_rates(self, caller: Caller) -> Sequence[Row]:
        """Return `version, valid_from, rates: [{resource, unit, price}], corrections`, newest
        first; who corrected them is told to administrators of the site.
        """
        rows = [row[0] for row in await self._database.call("list_rates")]
        if pools_of(caller) is None:
            return rows
        return [
            {**card, "corrections": [{**one, "by": SITE_ADMINISTRATOR} for one in corrections]}
            for card in rows
            for corrections in [card["corrections"]]
        ]
