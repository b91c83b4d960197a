"""The calls of the api about costs and prices."""

from collections.abc import Sequence
from datetime import date
from typing import Protocol

from weft.ports.store.callers import Caller, Row


class BillingStore(Protocol):
    """Costs of billing projects, computed from usage when they are read; prices."""

    async def list_projects(self, caller: Caller, name: str | None) -> Sequence[Row]:
        """Return `name, cost, cost_by_resource, members` of the caller's projects, by name.

        If a name is given: of that project, or raise `ProjectNotFound`.
        """

    async def list_project_days(
        self, caller: Caller, name: str, *, before: date | None, limit: int
    ) -> Sequence[Row]:
        """Return `date, cost, cost_by_resource` of a project's days with usage, newest first.

        Dates are UTC. Raise `ProjectNotFound`.
        """

    async def list_rates(self, caller: Caller) -> Sequence[Row]:
        """Return `version, valid_from, rates: [{resource, unit, price}]`, newest first."""
