"""What every adapter of the port `DriverStore` must do with limits of billing projects: a part of
its suite.
"""

from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from functools import partial

from store.calls.store_site import StoreTests, refused
from weft.core.billing.spending import Measure, Spending, Stage
from weft.core.errors import (
    BatchNotFound,
    BillingLimitReached,
    SoftLimitAboveLimit,
    UserNotFound,
)
from weft.ports.store.spending import Admitted, Limit, Limited
from weft.store import DriverStore

ENOUGH = 1000.0


def spending_calls(driver: DriverStore, epoch: int) -> Sequence[Callable[[], Awaitable[object]]]:
    """Return the calls about limits that carry the epoch."""
    spending = Spending(
        amount_max=None, amount_soft_max=None, used=Decimal(0), used_per_hour=Decimal(0),
        stage=Stage.BELOW,
    )  # fmt: skip
    none = Limit(
        0, 0, is_new=True, kind="project", name="", measure=Measure.COST, tenant="",
        on_limit="pause", spending=spending,
    )  # fmt: skip
    return [
        partial(driver.limit_rounds, epoch),
        partial(driver.judge_limit, epoch, none, Stage.BELOW, near=False),
        partial(driver.admit_at_limits, epoch, {0: Decimal(1)}, limit_jobs=1),
    ]


class SpendingStoreSuite(StoreTests):
    """The project of the caller, with jobs that wait."""

    async def test_project_at_its_limit_is_paused_until_it_goes_on(self) -> None:
        """Also for batches that come later; a decision about an older limit is refused."""
        driver, epoch, caller = self.site.driver, await self.site.lead(), self.site.caller
        await self.site.submit(1)
        older = await self.limit(0)
        one = await self.limit(0)
        assert one.spending.used == 0
        assert one.spending.stage is Stage.BELOW
        assert not await driver.judge_limit(epoch, older, Stage.REACHED, near=False)
        assert await driver.judge_limit(epoch, one, Stage.REACHED, near=False)
        await self.site.drive()
        await self.site.submit(2)
        assert await self.site.claim() == []
        (project,) = await self.site.api.list_projects(caller, "default")
        assert project["limit_state"] == "paused"
        one = await self.limit(ENOUGH)
        assert await driver.judge_limit(epoch, one, Stage.BELOW, near=False)
        await self.site.drive()
        claimed = await self.site.claim()
        assert len(claimed) == 3
        assert (await self.limits())[one.limit_id].spending.used_per_hour > 0
        await self.site.end(*claimed)

    async def test_project_near_its_limit_starts_what_fits(self) -> None:
        """Also of batches that come later; what was admitted counts until it is claimed."""
        driver, epoch = self.site.driver, await self.site.lead()
        await self.site.submit(2)
        one = await self.limit(ENOUGH)
        assert await driver.judge_limit(epoch, one, Stage.BELOW, near=True)
        await self.site.drive()
        await self.site.submit(2)
        assert await self.site.claim() == []
        nothing = await driver.admit_at_limits(epoch, {one.limit_id: Decimal(0)}, limit_jobs=9)
        assert nothing == [Admitted(one.limit_id, 0, is_short=True)]
        all_fit = {one.limit_id: Decimal(ENOUGH)}
        found = await driver.admit_at_limits(epoch, all_fit, limit_jobs=3)
        assert found == [Admitted(one.limit_id, 3, is_short=False)]
        spending = (await self.limits())[one.limit_id].spending
        assert spending.near
        assert spending.admitted_per_hour > 0
        claimed = await self.site.claim()
        assert len(claimed) == 3
        assert (await self.limits())[one.limit_id].spending.admitted_per_hour == 0
        await self.site.end(*claimed)

    async def test_project_that_cancels_at_its_limit_takes_no_jobs(self) -> None:
        """What was there is cancelled."""
        batch = await self.site.submit(2)
        one = await self.limit(0, on_limit="cancel")
        epoch = await self.site.lead()
        assert await self.site.driver.judge_limit(epoch, one, Stage.REACHED, near=False)
        await self.site.drive()
        with refused(BillingLimitReached):
            await self.site.submit()
        document = await self.site.api.get_batch(self.site.caller, batch)
        assert (document["cancelled"], document["n_cancelled"]) == (True, 2)

    async def limit(self, cost_max: float, *, on_limit: str = "pause") -> Limit:
        """Set a limit; return what the driver is told of it."""
        patch = {"cost_max": cost_max, "on_limit": on_limit}
        await self.site.api.change_project(self.site.caller, "default", patch)
        (found,) = [one for one in (await self.limits()).values() if one.is_new]
        return found

    async def limits(self) -> dict[int, Limit]:
        """Return all limits by their numbers."""
        found = await self.site.driver.limit_rounds(await self.site.lead())
        return {one.limit_id: one for one in found}


class LimitStoreSuite(StoreTests):
    """What users and groups may use."""

    async def test_limit_is_changed_and_listed_until_it_is_lifted(self) -> None:
        """By whoever sees what it is of."""
        api, caller, batch = self.site.api, self.site.caller, await self.site.submit(1)
        of = Limited("group", None, batch)
        other = Limited("user", caller.user_name)
        await api.set_limit(caller, of, Measure.CPU, {"amount_max": ENOUGH})
        found = await api.set_limit(caller, of, Measure.CPU, {"amount_soft_max": 5})
        assert (found["kind"], found["amount_max"], found["amount_soft_max"]) == (
            "batch", ENOUGH, 5,
        )  # fmt: skip
        with refused(SoftLimitAboveLimit):
            await api.set_limit(caller, of, Measure.CPU, {"amount_max": 4})
        await api.set_limit(caller, other, Measure.COST, {"amount_max": ENOUGH})
        listed = await api.list_limits(caller, batch, after=0, limit=9)
        assert {one["kind"] for one in listed} == {"batch", "user"}
        assert await api.list_limits(caller, batch, after=listed[-1]["id"], limit=9) == []
        for one in (of, other):
            patch = {"amount_max": None, "amount_soft_max": None}
            await api.set_limit(caller, one, Measure(found["measure"]), patch)
            found = listed[-1]
        assert await api.list_limits(caller, batch, after=0, limit=9) == []
        with refused(BatchNotFound):
            await api.set_limit(self.site.stranger, of, Measure.CPU, {"amount_max": 1})
        with refused(UserNotFound):
            await api.set_limit(caller, Limited("user", "nobody"), Measure.CPU, {})
