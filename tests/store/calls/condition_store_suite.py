"""What every adapter of the ports must do with conditions: a part of the suites of two roles."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from uuid import uuid4

from store.calls.recovery_store_suite import RecoveryTests
from store.calls.store_site import StoreSite, StoreTests, refused
from weft.core.attempt_key import AttemptKey
from weft.core.ends.conditions import Ask, Tested
from weft.core.errors import ConditionNotFound, JobNotFound
from weft.core.states import Reason
from weft.ports.store import (
    DueCondition,
    Position,
    Row,
)
from weft.store import DriverStore

PASSED = Tested(passed=True, message="it is there")
FAILED = Tested(passed=False, message="it is away")


async def block(site: StoreSite, n_jobs: int, ask: Ask) -> int:
    """Let jobs of a new batch wait for something; return the batch."""
    batch_id = await site.submit(n_jobs)
    store, worker = await site.worker()
    claimed = await site.claim(n_jobs)
    for one in claimed:
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        assert await store.ask_block(worker, key, ask)
    await site.end(*claimed, reason=Reason.BLOCKED)
    return batch_id


def new_ask() -> Ask:
    """Return what no other test asks for."""
    return Ask("connection_failed", "tcp", {"host": uuid4().hex, "port": "80"})


async def condition_of(site: StoreSite, ask: Ask) -> Row:
    """Return the condition that tests this."""
    pages = await site.api.list_conditions(site.caller, after_id=0, limit=100)
    (found,) = [one for one in pages if one["parameters"] == ask.parameters]
    return found


async def n_ready(site: StoreSite, batch_id: int) -> int:
    """Return how many jobs of a batch are ready."""
    return int((await site.api.get_batch(site.caller, batch_id))["n_ready"])


class ConditionStoreSuite(StoreTests):
    """Tests of the port `ConditionStore`."""

    async def test_conditions_are_listed_and_explained(self) -> None:
        """In pages; to the tenant whose jobs wait."""
        api, caller, asks = self.site.api, self.site.caller, (new_ask(), new_ask())
        for ask in asks:
            await block(self.site, 2, ask)
        page = [await condition_of(self.site, ask) for ask in asks]
        after = page[0]["condition_id"]
        (second,) = await api.list_conditions(caller, after_id=after, limit=1)
        one = await api.get_condition(caller, after, limit_jobs=1)
        hidden = await api.list_conditions(self.site.stranger, after_id=0, limit=9)
        assert second == page[1]
        assert list(hidden) == []
        assert [row["n_jobs"] for row in page] == [2, 2]
        assert (one["condition"], one["tester"]) == (asks[0].condition, "tcp")
        assert (one["n_next"], one["passed"], one["failed_by"]) == (10, None, None)
        assert [job["job_id"] for job in one["jobs"]] == [1]

    async def test_persons_release_and_fail(self) -> None:
        """The driver does it; a condition that is over is forgotten."""
        api, caller, ask = self.site.api, self.site.caller, new_ask()
        batch_id = await block(self.site, 3, ask)
        number = (await condition_of(self.site, ask))["condition_id"]
        await api.release_condition(caller, number, 1)
        await self.site.drive()
        released = await n_ready(self.site, batch_id)
        await api.fail_condition(caller, number)
        await self.site.drive()
        ended = await api.get_batch(caller, batch_id)
        last = await api.get_job(caller, batch_id, 3)
        await self.site.driver.due_conditions(await self.site.lead(), [], limit=1000)
        assert released == 1
        assert (ended["n_errored"], ended["n_blocked"]) == (2, 0)
        assert (last["reason"], caller.user_name in last["message"]) == ("blocked", True)
        for call in (
            api.get_condition(caller, number, limit_jobs=1),
            api.test_condition(caller, number),
            api.release_condition(caller, number, 1),
            api.fail_condition(caller, number),
        ):
            with refused(ConditionNotFound):
                await call
        await self.site.run()


class ConditionTests(RecoveryTests):
    """Jobs that wait for their dates, or for something that is tested."""

    async def due_now(self, ask: Ask) -> DueCondition:
        """Let a condition be due now, and return it."""
        found = await condition_of(self.site, ask)
        await self.site.api.test_condition(self.site.caller, found["condition_id"])
        due = await self.site.driver.due_conditions(await self.site.lead(), [], limit=1000)
        (one,) = [one for one in due if one.condition_id == found["condition_id"]]
        return one

    async def test_one_job_goes_on_whatever_it_waits_for(self) -> None:
        """The others wait on; to say it twice changes nothing, nor does it of one that runs."""
        api, caller, ask = self.site.api, self.site.caller, new_ask()
        batch_id = await block(self.site, 3, ask)
        assert await api.unblock_job(caller, batch_id, 2)
        await self.site.drive()
        assert (await api.get_job(caller, batch_id, 2))["state"] == "ready"
        assert not await api.unblock_job(caller, batch_id, 2)
        n_left = (await condition_of(self.site, ask))["n_jobs"]
        assert (n_left, await n_ready(self.site, batch_id)) == (2, 1)
        with refused(JobNotFound):
            await api.unblock_job(caller, batch_id, 9)

    async def test_jobs_go_on_when_a_test_passes(self) -> None:
        """A few at first; one that is under way is not due again."""
        driver, epoch, ask = self.site.driver, await self.site.lead(), new_ask()
        batch_id, others = await block(self.site, 12, ask), 2
        one = await self.due_now(ask)
        again = await driver.due_conditions(epoch, [one.condition_id], limit=1000)
        overdue_s = await driver.conditions_due(epoch, [])
        await driver.record_tests(epoch, {one.condition_id: PASSED})
        await self.site.drive()
        released = await n_ready(self.site, batch_id)
        after = await condition_of(self.site, ask)
        assert (one.tester, one.parameters) == (ask.tester, ask.parameters)
        assert one.condition_id not in {other.condition_id for other in again}
        assert (overdue_s or 0) < 0
        assert (released, after["n_jobs"], after["n_next"]) == (10, others, 20)
        assert (after["passed"], after["message"]) == (True, PASSED.message)
        await driver.record_tests(epoch, {one.condition_id: PASSED})
        await self.site.drive()
        assert await n_ready(self.site, batch_id) == released + others
        await self.site.run()

    async def test_jobs_wait_on_when_a_test_fails(self) -> None:
        """Those that are due get later dates."""
        driver, epoch, ask = self.site.driver, await self.site.lead(), new_ask()
        batch_id = await block(self.site, 2, ask)
        one = await self.due_now(ask)
        assert not await driver.postpone_conditions(epoch, [one.condition_id], limit_jobs=9)
        await driver.record_tests(epoch, {one.condition_id: FAILED})
        await self.site.drive()
        after = await condition_of(self.site, ask)
        assert (after["passed"], after["n_jobs"]) == (False, 2)
        assert after["next_test_at"] > after["tested_at"]
        assert await n_ready(self.site, batch_id) == 0
        await self.site.api.cancel_group(self.site.caller, batch_id, 0, force=False)
        await self.site.drive()

    async def test_pools_have_room_or_not(self) -> None:
        """A worker counts while it takes jobs; what runs there is not free."""
        driver, epoch, ask = self.site.driver, await self.site.lead(), new_ask()
        batch_id = await block(self.site, 1, ask)
        one = (await condition_of(self.site, ask))["condition_id"]
        store, worker = await self.site.worker()
        unknown = await driver.test_pool(epoch, one, uuid4().hex, 0)
        any_worker = await driver.test_pool(epoch, one, self.site.pool, 0)
        too_much = await driver.test_pool(epoch, one, self.site.pool, 10**12)
        assert (unknown.passed, any_worker.passed, too_much.passed) == (False, True, False)
        assert "there is no pool" in unknown.message
        assert "free cores" in too_much.message
        await store.leave(worker)
        await self.site.api.cancel_group(self.site.caller, batch_id, 0, force=False)
        await self.site.drive()

    async def test_gateway_that_is_not_there_holds_nobody_up(self) -> None:
        """Others may take its jobs."""
        driver, epoch, ask = self.site.driver, await self.site.lead(), new_ask()
        batch_id = await block(self.site, 1, ask)
        one = (await condition_of(self.site, ask))["condition_id"]
        tested = await driver.test_gateway(epoch, one, uuid4().hex)
        assert tested.passed
        assert "is not there" in tested.message
        await self.site.api.cancel_group(self.site.caller, batch_id, 0, force=False)
        await self.site.drive()


def recovery_calls(driver: DriverStore, epoch: int) -> Sequence[Callable[[], Awaitable[object]]]:
    """Return calls with which loops ask for their dates, and those about conditions."""
    asked = (driver.gates_due, driver.deadlines_due, driver.recovery_due)
    return [
        *(partial(due, epoch) for due in asked),
        partial(driver.conditions_due, epoch, []),
        partial(driver.due_conditions, epoch, [], limit=1),
        partial(driver.postpone_conditions, epoch, [1], limit_jobs=1),
        partial(driver.record_tests, epoch, {1: PASSED}),
        partial(driver.stop_overdue, epoch, limit_jobs=1, confirm_s=1),
        partial(driver.patrol, epoch, Position(), limit_jobs=1),
        partial(driver.test_pool, epoch, 1, "default", 1),
        partial(driver.test_gateway, epoch, 1, "default"),
        partial(driver.retry_failed, epoch, 1, matching=None, looked_upto=None, limit=1),
        partial(driver.list_resubmitted, epoch, 1, after=0, limit=1),
        partial(driver.add_resubmitted, epoch, 1, after=0, upto=1, job_ids=[], rows=None),
    ]
