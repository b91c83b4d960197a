"""Operations on many batches: a part of the suite of the driver's store."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from store.calls.store_site import UNKEYED, StoreTests, refused
from weft.core.access.rights import UserRole
from weft.core.errors import BatchNotFound
from weft.core.query import Subject, parse_query
from weft.ports.store import (
    BatchQuery,
    Caller,
    QueryLimits,
)
from weft.store import DriverStore


def batch_action_calls(
    driver: DriverStore, epoch: int
) -> Sequence[Callable[[], Awaitable[object]]]:
    """Return the calls that carry the epoch."""
    return [
        partial(driver.operation_caller, epoch, 1),
        partial(driver.act_on_batch, Caller(1, 1, ""), epoch, 1, 1, n_idle=0),
        partial(driver.pass_batches, epoch, 1, down_to=1, n_idle=0),
    ]


class BatchActionStoreSuite(StoreTests):
    """Each batch is passed once, from the highest number to the lowest."""

    async def hold(self, *batches: int) -> int:
        """Begin an operation."""
        arguments = {"action": "hold", "batches": list(batches)}
        return await self.site.api.begin_batch_action(self.site.caller, arguments, **UNKEYED)

    async def test_operation_is_done_for_its_user(self) -> None:
        """With what they may do now."""
        driver, epoch = self.site.driver, await self.site.lead()
        batch = await self.site.submit(1, name="mine")
        caller = await driver.operation_caller(epoch, await self.hold(batch))
        assert caller is not None
        assert (caller.tenant_id, caller.user_id) == (
            self.site.caller.tenant_id, self.site.caller.user_id,
        )  # fmt: skip
        wanted = BatchQuery(
            query=parse_query("name = mine", Subject.BATCHES), limit=9,
            limits=QueryLimits(timeout_s=30, scan_jobs_max=1),
        )  # fmt: skip
        assert [row["id"] for row in await driver.find_batches(caller, wanted)] == [batch]
        assert [row["id"] for row in await driver.read_batches(caller, [batch, 1 << 60])] == [
            batch
        ]
        assert await driver.find_batches(self.site.stranger, wanted) == []
        assert await driver.read_batches(self.site.stranger, [batch]) == []

    async def test_batch_is_passed_once(self) -> None:
        """A repeat of any call does nothing, nor does one for a role that was another one."""
        driver, epoch, caller = self.site.driver, await self.site.lead(), self.site.caller
        low, middle, high = [await self.site.submit(1) for _ in range(3)]
        operation = await self.hold(low, middle, high)
        other = replace(caller, role=next(one for one in UserRole if one != caller.role))
        assert not await driver.act_on_batch(other, epoch, operation, high, n_idle=0)
        for answer in (True, False):
            assert await driver.act_on_batch(caller, epoch, operation, high, n_idle=2) is answer
        with refused(BatchNotFound):
            await driver.act_on_batch(caller, epoch, operation, 0, n_idle=0)
        for answer in (True, False):
            assert answer is await driver.pass_batches(
                epoch, operation, down_to=middle, n_idle=1, skipped="X.Y"
            )
        for answer in (True, False):
            assert await driver.pass_batches(epoch, operation, down_to=1, n_idle=4) is answer
        document = await self.site.api.get_operation(caller, operation)
        assert document["state"] == "success"
        assert document["result"] == {
            "action": "hold", "query": None, "n_changed": 1, "n_idle": 7, "n_skipped": 1,
            "skipped": {"X.Y": 1},
        }  # fmt: skip
        held = [
            (await self.site.api.get_batch(caller, one))["held"] for one in (low, middle, high)
        ]
        assert held == [False, False, True]
