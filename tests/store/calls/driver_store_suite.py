"""What every adapter of the port `DriverStore` must do: a suite that an author subclasses."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

from store.calls.batch_action_store_suite import BatchActionStoreSuite, batch_action_calls
from store.calls.black_hole_store_suite import BlackHoleStoreSuite
from store.calls.condition_store_suite import ConditionTests, recovery_calls
from store.calls.machine_store_suite import MachineStoreSuite
from store.calls.preemption_store_suite import PreemptionStoreSuite
from store.calls.schedule_store_suite import DueScheduleTests, schedule_calls
from store.calls.source_store_suite import SourceReadingSuite, source_calls
from store.calls.spending_store_suite import SpendingStoreSuite, spending_calls
from store.calls.store_site import (
    SWEEPS,
    TRACE_ID,
    UNKEYED,
    WITHIN_S,
    StoreTests,
    led_by,
    refused,
)
from store.calls.subscription_store_suite import SubscriptionStoreSuite, subscription_calls
from weft.core.errors import EpochStale, EventsGone, GroupNotFound, UpdateNotFound
from weft.core.states import Reason
from weft.ports.store import (
    DeliveryReport,
    DueCallback,
    EditLimits,
    Gate,
    JobQuery,
    JobRows,
    NewSet,
    Operation,
    QueryLimits,
)
from weft.settings import Settings, sql_settings
from weft.store import DriverStore
from weft.testing.builders import job_rows

EDIT_LIMITS: Final = EditLimits(attributes_max=9, rename_groups_max=9)
SETTINGS: Final = {name: getattr(Settings(), name) for name in sql_settings()}
HOOK: Final = "https://receiver.example/hook"
COUNTS: Final = ("n_ready", "n_running", "n_succeeded", "n_failed", "n_errored", "n_cancelled")
AGES_S: Final = 10**6  # longer than anything lasts here
CALLS: Final = (spending_calls, recovery_calls, schedule_calls, batch_action_calls, source_calls,
                subscription_calls)  # fmt: skip
STEPS: Final = ("set_priorities", "remove_batch")
LIMITS: Final = {"limit_all": 32, "limit_tenant": 16, "limit_host": 4}
EVERYTHING: Final = JobQuery(limit=100, limits=QueryLimits(timeout_s=30, scan_jobs_max=1000))


class _DriverTests(StoreTests):
    """What the tests of each subject ask."""

    async def leader(self) -> tuple[DriverStore, int]:
        """Return the store under test, which leads, and its epoch."""
        return self.site.driver, await self.site.lead()

    async def job(self, batch_id: int) -> Any:  # noqa: ANN401 (a document)
        """Return the document of the first job."""
        return await self.site.api.get_job(self.site.caller, batch_id, 1)

    async def counts(self, batch_id: int) -> dict[str, int]:
        """Return how many jobs of a batch are in each state."""
        document = await self.site.api.get_batch(self.site.caller, batch_id)
        return {name: document[name] for name in COUNTS if document[name]}

    async def running(self, driver: DriverStore, epoch: int) -> dict[int, Operation]:
        """Return all operations that are running, page by page."""
        found: dict[int, Operation] = {}
        while page := await driver.running_operations(epoch, max(found, default=0)):
            assert not found.keys() & {one.operation_id for one in page}
            found |= {one.operation_id: one for one in page}
        return found

    async def priority_change(self, batch_id: int, priority: int = 7) -> int:
        """Begin an operation."""
        return await self.site.api.prioritize_group(
            self.site.caller, batch_id, 0, patch={"priority": priority}, limits=EDIT_LIMITS,
            trace_id=TRACE_ID,
        )  # fmt: skip

    async def completed(self) -> int:
        """Return a batch that is complete and has a callback."""
        batch = await self.site.submit(1, callback=HOOK)
        await self.site.run()
        await self.site.drive()
        return batch

    async def due(self, *busy: int, **limits: int) -> Sequence[DueCallback]:
        """Return what is due of this tenant."""
        driver, epoch = await self.leader()
        found = await driver.due_callbacks(epoch, busy, **{**LIMITS, **limits})
        return [one for one in found if one.tenant_id == self.site.caller.tenant_id]

    async def give_up_all(self, driver: DriverStore, epoch: int) -> None:
        """Leave nothing of other tests."""
        async with asyncio.timeout(WITHIN_S):
            while due := await driver.due_callbacks(epoch, [], **LIMITS):
                await driver.record_deliveries(epoch, [report(one) for one in due])

    async def deliveries(self, batch_id: int) -> Sequence[Any]:
        """Return the delivery documents of a batch."""
        return await self.site.api.list_callbacks(self.site.caller, batch_id, after=0, limit=9)


class TermTests(_DriverTests):
    """Terms of leaders."""

    async def test_one_leads_and_the_next_one_follows_when_it_is_gone(self) -> None:
        """With a greater epoch; a standby is told at once that it is one."""
        async with self.site.open_driver() as next_one:
            async with self.site.open_driver() as driver:
                epoch = await led_by(driver)
                assert await next_one.try_lead() is None
                assert await driver.still_lead()
                assert not await next_one.still_lead()
            later = await led_by(next_one)
            assert later > epoch
            assert await next_one.still_lead()

    async def test_calls_of_an_older_term_are_refused_and_change_nothing(self) -> None:
        """Each that carries the epoch; the driver may have slept through the end of its term."""
        batch = await self.site.submit(2, callback=HOOK)
        await self.site.api.cancel_group(self.site.caller, batch, 0, force=False)
        operation = await self.priority_change(batch)
        driver, older = await self.leader()
        epoch = await led_by(driver)
        assert epoch > older
        for call in calls_of_term(driver, older, operation):
            with refused(EpochStale):
                await call()
        assert (await driver.fold_deltas(epoch)).deltas > 0
        assert await driver.sweep("sweep_cancelled", epoch, limit_jobs=100) > 0
        assert operation in await self.running(driver, epoch)
        await driver.fail_operation(epoch, operation, {})

    async def test_number_of_losses_is_configured_for_all_workers(self) -> None:
        """A job that is lost so often and once more is an error."""
        driver, epoch = await self.leader()
        await driver.configure(epoch, {**SETTINGS, "losses_max": 1})
        batch = await self.site.submit(1)
        states = []
        for _ in range(2):
            await self.site.run(reason=Reason.LOST)
            states.append((await self.job(batch))["state"])
        await driver.configure(epoch, SETTINGS)
        assert states == ["ready", "error"]


class SumTests(_DriverTests):
    """Sums and completions."""

    async def test_documents_do_not_depend_on_the_fold(self) -> None:
        """Each delta is folded once."""
        driver, epoch = await self.leader()
        await self.site.drive()
        batch = await self.site.submit(3)
        await self.site.run(2)
        before = await self.counts(batch)
        folded = await driver.fold_deltas(epoch)
        assert folded.deltas > 0
        assert before == await self.counts(batch) == {"n_ready": 1, "n_succeeded": 2}
        assert (await driver.fold_deltas(epoch)).deltas == 0
        assert before == await self.counts(batch)

    async def test_fold_settles_what_is_complete(self) -> None:
        """And dates it."""
        driver, epoch = await self.leader()
        batch = await self.site.submit(2)
        await self.site.run()
        await driver.fold_deltas(epoch)
        document = await self.site.api.get_batch(self.site.caller, batch)
        assert (document["complete"], document["state"]) == (True, "success")
        assert document["completed_at"] is not None

    async def test_fold_names_the_loops_that_have_work(self) -> None:
        """No notice is sent while the fold is awake."""
        driver, epoch = await self.leader()
        await self.site.drive()
        assert list((await driver.fold_deltas(epoch)).loops) == []
        batch = await self.site.submit(2)
        await self.site.api.cancel_group(self.site.caller, batch, 0, force=False)
        assert list((await driver.fold_deltas(epoch)).loops) == ["cancel"]


class SweepTests(_DriverTests):
    """Loops that work in bounded steps."""

    async def test_steps_are_bounded_and_end_with_0(self) -> None:
        """Of all loops, each beside the others."""
        driver, epoch = await self.leader()
        await self.site.drive()
        for function in SWEEPS:
            assert await driver.sweep(function, epoch, limit_jobs=2) == 0, function
        batch = await self.site.submit(5)
        await self.site.api.cancel_group(self.site.caller, batch, 0, force=False)
        counts = await self.site.sweep("sweep_cancelled", limit_jobs=2)
        assert sum(counts) >= 5
        assert max(counts) <= 2
        assert await self.counts(batch) == {"n_cancelled": 5}

    async def test_children_of_what_a_sweep_cancelled_are_settled(self) -> None:
        """One that runs always is ready, the other one is cancelled."""
        batch = await self.site.submit(
            job_rows(3, parents={2: [1], 3: [1]}, always_run=[False, False, True])
        )
        await self.site.api.cancel_jobs(self.site.caller, batch, [1])
        await self.site.sweep("settle_children", limit_jobs=1)
        assert await self.counts(batch) == {"n_ready": 1, "n_cancelled": 2}

    async def test_released_jobs_are_claimed_again(self) -> None:
        """What the sweep parked while its group was held, it lists afterwards."""
        batch = await self.site.submit(3)
        await self.site.api.hold_group(self.site.caller, batch, 0)
        await self.site.sweep("sweep_holds", limit_jobs=2)
        assert await self.site.run() == []
        await self.site.api.release_group(self.site.caller, batch, 0)
        await self.site.sweep("sweep_holds", limit_jobs=2)
        assert sorted(await self.site.run()) == [1, 2, 3]

    async def test_gates_open_at_their_dates(self) -> None:
        """The date is told before; jobs pass after it."""
        driver, epoch = await self.leader()
        await self.site.drive()
        assert (await driver.gates_due(epoch) or 2 * AGES_S) > AGES_S  # of other tests
        now = datetime.now(UTC)
        opens_at = now + timedelta(seconds=AGES_S)
        await self.site.submit(1, gates=[Gate(kind="not_before", opens_at=opens_at)])
        later_s = await driver.gates_due(epoch)
        past = await self.site.submit(2, gates=[Gate(kind="not_before", opens_at=now)])
        soon_s = await driver.gates_due(epoch)
        await self.site.sweep("pass_gates")
        assert later_s
        assert AGES_S / 2 < later_s <= AGES_S
        assert soon_s is not None
        assert soon_s <= 0
        assert {one.batch_id for one in await self.site.claim()} == {past}

    async def test_deadlines_are_told_and_kept(self) -> None:
        """Jobs that can no longer start in time end as errors."""
        driver, epoch = await self.leader()
        await self.site.drive()
        assert await driver.deadlines_due(epoch) is None
        later = await self.site.submit(_due(AGES_S))
        later_s = await driver.deadlines_due(epoch)
        past = await self.site.submit(_due(0))
        soon_s = await driver.deadlines_due(epoch)
        await self.site.sweep("sweep_deadlines")
        assert AGES_S / 2 < (later_s or 0) <= AGES_S
        assert (soon_s or 0) <= 0
        assert await self.counts(past) == {"n_errored": 1}
        assert await self.counts(later) == {"n_ready": 1}


def _due(in_s: float) -> JobRows:
    """Return a job that has to start within some seconds."""
    rows, at = job_rows(1), (datetime.now(UTC) + timedelta(seconds=in_s)).isoformat()
    rows.rare_job, rows.rare_fields = [1], [{"deadline": at, "latest_start": at}]
    return rows


class WorkerTests(_DriverTests):
    """Workers that are silent."""

    async def test_silent_workers_lose_their_attempts_once(self) -> None:
        """They are named; others take the jobs."""
        driver, epoch = await self.leader()
        await driver.lose_workers(epoch, 0)  # those of other tests
        batch = await self.site.submit(2)
        await self.site.claim(1)
        assert list(await driver.lose_workers(epoch, AGES_S)) == []
        (lost,) = await driver.lose_workers(epoch, 0)
        assert (bool(lost["worker"]), lost["n_attempts"]) == (True, 1)
        assert lost["silent_s"] > 0
        assert list(await driver.lose_workers(epoch, 0)) == []
        assert await self.counts(batch) == {"n_ready": 2}

    async def test_date_of_the_next_loss_is_known(self) -> None:
        """By this host's clock, to the loop that asks and in the leader's heartbeat."""
        driver, epoch = await self.leader()
        await driver.lose_workers(epoch, 0)
        assert await driver.next_due(epoch, AGES_S) is None
        assert "reaper" not in (await driver.beat(epoch, AGES_S)).due
        await self.site.worker()
        due_at = await driver.next_due(epoch, AGES_S)
        assert due_at is not None
        assert timedelta() <= datetime.now(UTC) + timedelta(seconds=AGES_S) - due_at
        told = (await driver.beat(epoch, AGES_S)).due["reaper"]
        assert abs(told - due_at) < timedelta(seconds=WITHIN_S)


class SleepTests(_DriverTests):
    """Sleep and notices."""

    async def test_driver_that_sleeps_is_woken(self) -> None:
        """It may sleep when there is nothing to do, and a notice follows."""
        driver, epoch = await self.leader()
        batch = await self.site.submit(2)
        assert not await driver.idle_driver(epoch)
        assert not (await driver.beat(epoch, AGES_S)).idle
        await self.site.drive()

        async def sleep_and_cancel() -> None:
            assert await driver.idle_driver(epoch)
            assert (await driver.beat(epoch, AGES_S)).idle
            await self.site.api.cancel_group(self.site.caller, batch, 0, force=False)

        await self.site.notice("driver", after=sleep_and_cancel)
        assert not await driver.idle_driver(epoch)


class RetentionTests(_DriverTests):
    """Retention of events and updates."""

    async def test_what_is_old_is_removed(self) -> None:
        """Events, and updates that nobody committed; nothing younger."""
        driver, epoch = await self.leader()
        api, caller = self.site.api, self.site.caller
        start = await api.events_now()
        batch = await self.site.submit(1)
        update, _is_new = await api.create_update(caller, batch, n_jobs=2, n_groups=0, **UNKEYED)
        assert await driver.remove_old(epoch, events_keep_s=AGES_S, updates_keep_s=AGES_S) == 0
        assert await driver.trim_trail(epoch, keep_s=0, limit=9) == 0
        assert await driver.remove_outputs(epoch, limit=9) == 0
        assert await api.get_update(caller, batch, update.update_id) == update
        await self.site.remove_old()
        with refused(UpdateNotFound):
            await api.get_update(caller, batch, update.update_id)
        with refused(EventsGone):
            await api.list_events(caller, after=start, batch_id=None, limit=9)
        assert await self.site.run() == [1]


class OperationTests(_DriverTests):
    """Work on whole batches."""

    async def test_operations_are_read_in_pages_oldest_first(self) -> None:
        """With what a step needs to know."""
        driver, epoch = await self.leader()
        await self.site.drive()
        batches = [await self.site.submit(3) for _ in range(3)]
        asked = [await self.priority_change(batch) for batch in batches]
        found = await self.running(driver, epoch)
        assert list(found) == asked
        assert await driver.running_operations(epoch, asked[-1]) == []
        one = found[asked[0]]
        assert (one.tenant_id, one.batch_id) == (self.site.caller.tenant_id, batches[0])
        assert (one.kind, one.position, one.n_total) == ("set_priority", 0, 3)
        assert one.trace_id == TRACE_ID
        await self.site.drive()
        assert await self.running(driver, epoch) == {}

    async def test_priorities_change_step_by_step(self) -> None:
        """A later operation of the batch waits for the earlier one; a repeat does no harm."""
        driver, epoch = await self.leader()
        batch = await self.site.submit(5)
        one, other = [await self.priority_change(batch, priority) for priority in (3, 4)]
        assert await driver.step("set_priorities", epoch, other, limit=2) == "waits"
        for operation in (one, other):
            while operation in await self.running(driver, epoch):
                assert await driver.step("set_priorities", epoch, operation, limit=2) == "moved"
            assert await driver.step("set_priorities", epoch, operation, limit=2) == "moved"
        documents = await self.site.api.list_jobs(self.site.caller, batch, after=0, limit=9)
        assert [document["priority"] for document in documents] == [4] * 5

    async def test_removal_of_a_batch_waits_for_its_running_jobs(self) -> None:
        """Then its rows go."""
        driver, epoch = await self.leader()
        batch = await self.site.submit(3)
        running = await self.site.claim(1)
        operation = await self.site.api.delete_batch(self.site.caller, batch, **UNKEYED)
        async with asyncio.timeout(WITHIN_S):
            while await driver.step("remove_batch", epoch, operation, limit=2) != "waits":
                pass
        await self.site.end(*running, reason=Reason.CANCELLED)
        assert (await self.site.ended(operation))["state"] == "success"

    async def test_set_is_filled_range_by_range_and_shown_when_complete(self) -> None:
        """With the jobs of a query; a step that is repeated adds none twice."""
        driver, epoch = await self.leader()
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(6)
        operation = await api.create_query_set(
            caller, batch, NewSet(name="found"), query="", within_group=None, **UNKEYED
        )
        found = await driver.matching_jobs(caller.tenant_id, batch, EVERYTHING)
        assert list(found) == [1, 2, 3, 4, 5, 6]
        for _ in range(2):
            assert await driver.fill_set(epoch, operation, found[:3], looked_upto=3, sets_max=64)
            assert (await self.running(driver, epoch))[operation].position == found[2]
        with refused(GroupNotFound):
            await api.get_group(caller, batch, "found")
        assert await driver.fill_set(epoch, operation, [5], looked_upto=6, sets_max=64)
        assert (await api.get_group(caller, batch, "found"))["n_jobs"] == len((1, 2, 3, 5))
        assert (await api.get_operation(caller, operation))["state"] == "success"

    async def test_operation_that_cannot_succeed_ends_with_a_problem(self) -> None:
        """And is no longer continued."""
        driver, epoch = await self.leader()
        operation = await self.priority_change(await self.site.submit(1))
        problem = {"title": "it cannot succeed", "code": "X.Y"}
        await driver.fail_operation(epoch, operation, problem)
        document = await self.site.api.get_operation(self.site.caller, operation)
        assert (document["state"], document["error"]) == ("failed", problem)
        assert operation not in await self.running(driver, epoch)


class CallbackTests(_DriverTests):
    """Deliveries of callbacks."""

    async def test_completion_is_due_until_it_is_delivered(self) -> None:
        """Under one name; a leader that dies while it sends leaves it due."""
        driver, epoch = await self.leader()
        batch = await self.completed()
        (one,) = await self.due()
        (same,) = await self.due()
        assert (one.batch_id, one.group_id, one.url, one.n_attempts) == (batch, 0, HOOK, 0)
        assert (same.delivery_id, same.name, same.body) == (one.delivery_id, one.name, one.body)
        assert '"complete"' in one.body
        assert one.age_s >= 0
        assert await self.due(one.delivery_id) == []
        await driver.record_deliveries(epoch, [report(one, delivered=True, status=200)])
        await driver.record_deliveries(epoch, [report(one, status=500)])
        assert await self.due() == []
        (row,) = await self.deliveries(batch)
        assert (row["state"], row["n_attempts"], row["last_status"]) == ("delivered", 1, 200)

    async def test_failed_delivery_is_due_again_at_its_date(self) -> None:
        """Or never, if it was given up."""
        driver, epoch = await self.leader()
        await self.give_up_all(driver, epoch)
        assert await driver.next_callback(epoch) is None
        batch = await self.completed()
        (one,) = await self.due()
        await driver.record_deliveries(epoch, [report(one, status=500, retry_in_s=AGES_S)])
        next_s = await driver.next_callback(epoch)
        assert next_s is not None
        assert 0 < next_s <= AGES_S
        assert "callback" in (await driver.beat(epoch, AGES_S)).due
        assert await self.due() == []
        await driver.record_deliveries(epoch, [report(one, error="no answer")])
        assert await driver.next_callback(epoch) is None
        (row,) = await self.deliveries(batch)
        assert (row["state"], row["n_attempts"]) == ("failed", 2)
        assert (row["last_status"], row["last_error"]) == (None, "no answer")

    async def test_limits_include_the_deliveries_under_way(self) -> None:
        """In all, of a tenant and to a host."""
        driver, epoch = await self.leader()
        await self.give_up_all(driver, epoch)
        for _ in range(4):
            await self.completed()
        ids = [one.delivery_id for one in await self.due()]
        for limit in LIMITS:
            assert len(await self.due(**{limit: 3})) == 3
            busy = ids[:2]
            (other,) = await self.due(*busy, **{limit: 3})
            assert other.delivery_id in ids[2:]


class DriverStoreSuite(
    TermTests, SumTests, SweepTests, WorkerTests, SleepTests, RetentionTests, OperationTests,
    CallbackTests, DueScheduleTests, ConditionTests, BatchActionStoreSuite, SourceReadingSuite,
    MachineStoreSuite, BlackHoleStoreSuite, PreemptionStoreSuite, SpendingStoreSuite,
    SubscriptionStoreSuite,
):  # fmt: skip
    """Tests of the port; see `StoreTests`."""


def report(one: DueCallback, **said: Any) -> DeliveryReport:  # noqa: ANN401 (fields)
    """Return the report of an attempt: given up, unless it says more."""
    known = {"delivered": False, "status": None, "error": None, "retry_in_s": None, **said}
    return DeliveryReport(delivery_id=one.delivery_id, **known)


def calls_of_term(
    driver: DriverStore, epoch: int, operation_id: int
) -> Sequence[Callable[[], Awaitable[object]]]:
    """Return every call that carries the epoch."""
    return [
        *(partial(driver.sweep, function, epoch, limit_jobs=1) for function in SWEEPS),
        *(partial(driver.step, function, epoch, operation_id, limit=1) for function in STEPS),
        partial(driver.configure, epoch, SETTINGS),
        *(partial(call, epoch, 0) for call in (driver.lose_workers, driver.next_due, driver.beat)),
        *(one for calls in CALLS for one in calls(driver, epoch)),
        *(partial(call, epoch) for call in (driver.fold_deltas, driver.idle_driver)),
        partial(driver.trim_trail, epoch, keep_s=1, limit=1),
        partial(driver.remove_outputs, epoch, limit=1),
        partial(driver.remove_old, epoch, events_keep_s=0, updates_keep_s=0),
        partial(driver.fill_set, epoch, operation_id, [], looked_upto=1, sets_max=1),
        partial(driver.fail_operation, epoch, operation_id, {}),
        partial(driver.due_callbacks, epoch, [], **LIMITS),
        *(partial(call, epoch) for call in (driver.running_operations, driver.next_callback)),
        partial(driver.record_deliveries, epoch, []),
    ]
