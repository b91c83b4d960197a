"""What every adapter of the port `BillingStore` must do: a part of the api's suite."""

from dataclasses import replace
from datetime import date
from decimal import Decimal
from uuid import uuid4

from store.calls.store_site import StoreTests, refused
from weft.core.access.rights import UserRole
from weft.core.errors import (
    ProjectClosed,
    ProjectExists,
    ProjectNotFound,
    ProjectOpen,
    ReportTooLarge,
    UserNotFound,
)
from weft.ports.store import ReportPage, ReportQuery


class BillingStoreSuite(StoreTests):
    """Tests of the port `BillingStore`."""

    async def test_project_costs_what_its_batches_cost(self) -> None:
        """In all, by resource and by day, before and after the fold."""
        api, caller = self.site.api, self.site.caller
        batches = [await self.site.submit(1) for _ in range(2)]
        await self.site.run()
        for _ in range(2):
            (project,) = await api.list_projects(caller, None)
            (day,) = await api.list_project_days(caller, "default", before=None, limit=9)
            costs = [(await api.get_batch(caller, batch))["cost"] for batch in batches]
            assert project["name"] == "default"
            assert project["members"] == [caller.user_name]
            assert project["cost"] > 0
            assert abs(project["cost"] - sum(costs)) < project["cost"] / 1000
            assert project["cost_by_resource"] == day["cost_by_resource"]
            await self.site.drive()

    async def test_days_come_newest_first_page_by_page(self) -> None:
        """Those with usage, by UTC."""
        api, caller = self.site.api, self.site.caller
        assert await api.list_project_days(caller, "default", before=None, limit=9) == []
        await self.site.submit(1)
        await self.site.run()
        (day,) = await api.list_project_days(caller, "default", before=None, limit=9)
        of_day = date.fromisoformat(day["date"])
        assert await api.list_project_days(caller, "default", before=of_day, limit=9) == []
        assert await api.list_project_days(caller, "default", before=date.max, limit=1) == [day]

    async def test_report_divides_what_the_projects_cost(self) -> None:
        """By each word; by attribute also what has none. The sum is always the same."""
        api, caller = self.site.api, self.site.caller
        await self.site.submit(1, attributes={"k": "x"})
        await self.site.run()
        await self.site.submit(1)
        await self.site.run()
        (project,) = await api.list_projects(caller, None)
        names = {"project": ["default"], "user": [caller.user_name], "attribute": ["x", None]}
        sums = set()
        for by in ("project", "user", "day", "resource", "attribute"):
            asked = ReportQuery(by=by, attribute="k" if by == "attribute" else None)
            rows = (await api.billing_report(caller, asked, rows_max=9)).rows
            sums.add(sum(Decimal(row["cost"]) for row in rows))
            assert [row["name"] for row in rows] == names.get(by, [row["name"] for row in rows])
        assert len(sums) == 1
        assert abs(float(sums.pop()) - project["cost"]) < project["cost"] / 1000
        past = ReportQuery(by="day", last_day=date(2020, 1, 1))
        assert await api.billing_report(caller, past, rows_max=9) == ReportPage([])
        with refused(ProjectNotFound):
            await api.billing_report(caller, replace(past, project="none"), rows_max=9)
        await self.site.drive()
        with refused(ReportTooLarge):
            await api.billing_report(
                caller, ReportQuery(by="attribute", attribute="k"), rows_max=1
            )

    async def test_unknown_project_is_refused(self) -> None:
        """Also in a list of one."""
        api, caller = self.site.api, self.site.caller
        (project,) = await api.list_projects(caller, "default")
        assert project["cost"] == 0
        with refused(ProjectNotFound):
            await api.list_projects(caller, "none")
        with refused(ProjectNotFound):
            await api.list_project_days(caller, "none", before=None, limit=9)

    async def test_project_is_charged_by_its_members_while_it_is_open(self) -> None:
        """Somebody who manages the tenant sees it anyway."""
        api, caller = self.site.api, self.site.caller
        manager = replace(caller, role=UserRole.TENANT_ADMIN)
        await api.create_project(caller, "p", cost_max=0.1)
        await api.add_user(caller, "bob", UserRole.USER, uuid4().hex)
        await api.set_project_member(caller, "P", "bob", is_member=True)
        await api.set_project_member(caller, "p", caller.user_name, is_member=False)
        with refused(ProjectNotFound):
            await self.site.submit(billing_project="p")
        with refused(ProjectNotFound):
            await api.list_projects(caller, "p")
        (project,) = await api.list_projects(manager, "p")
        assert (project["members"], project["closed"], project["cost_max"]) == (
            ["bob"],
            False,
            0.1,
        )
        assert await api.list_project_days(manager, "p", before=None, limit=9) == []
        await api.set_project_member(caller, "p", caller.user_name, is_member=True)
        await api.change_project(caller, "p", {"closed": True})
        with refused(ProjectClosed):
            await self.site.submit(billing_project="p")
        await api.change_project(caller, "p", {"closed": False})
        await self.site.submit(billing_project="p")
        with refused(UserNotFound):
            await api.set_project_member(caller, "p", "nobody", is_member=True)

    async def test_project_is_made_once_and_deleted_when_closed(self) -> None:
        """Its name is unique in its tenant, without regard to case, and stays taken."""
        api, caller = self.site.api, self.site.caller
        for _ in range(2):
            await api.create_project(caller, "p", cost_max=None, idempotency_key="k")
        with refused(ProjectOpen):
            await api.delete_project(caller, "p")
        await api.change_project(caller, "p", {"closed": True})
        with refused(ProjectNotFound):
            await api.delete_project(self.site.stranger, "p")
        assert not await api.was_project(caller, "p")
        await api.delete_project(caller, "p")
        assert await api.was_project(caller, "p")
        assert not await api.was_project(self.site.stranger, "p")
        with refused(ProjectNotFound):
            await api.list_projects(caller, "p")
        for name, key in (("P", None), ("P", "k"), ("p", "k")):
            with refused(ProjectExists):
                await api.create_project(caller, name, cost_max=None, idempotency_key=key)
        await api.create_project(self.site.stranger, "p", cost_max=None)
        await api.change_project(caller, "default", {"closed": True})
        with refused(ProjectOpen):
            await api.delete_project(caller, "default")
        await api.change_project(caller, "default", {"closed": False})

    async def test_prices_are_listed_newest_first(self) -> None:
        """Each version with all of its prices."""
        rates = await self.site.api.list_rates(self.site.caller)
        versions = [one["version"] for one in rates]
        assert versions == sorted(versions, reverse=True)
        assert {"resource", "unit", "price"} == rates[-1]["rates"][0].keys()
