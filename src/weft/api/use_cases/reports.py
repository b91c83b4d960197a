"""Reports of what billing projects cost: whole, or page by page."""

from typing import Final

from weft.api.services import Services
from weft.ports.store import Caller, ReportPage, ReportQuery

PROJECTS_MAX: Final = 100
"""Billing projects that a page adds up; those of a whole tenant have a sum."""
BATCHES_MAX: Final = 1_000
"""Sums of batches that a page by attribute reads."""


async def report(services: Services, caller: Caller, query: ReportQuery) -> ReportPage:
    """Return what projects cost. Raise `ProjectNotFound`, `ReportTooLarge`."""
    rows_max = services.settings.report_batches_max
    if query.limit is None:
        return await services.store.billing_report(caller, query, rows_max=rows_max)
    return await services.store.billing_report(
        caller, query, rows_max=min(rows_max, BATCHES_MAX), projects_max=PROJECTS_MAX
    )
