"""What every adapter of the port `ApiStore` must do: a suite that an author subclasses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from store.calls.app_store_suite import AppStoreSuite
from store.calls.billing_store_suite import BillingStoreSuite
from store.calls.callback_store_suite import CallbackStoreSuite
from store.calls.condition_store_suite import ConditionStoreSuite
from store.calls.door_job_store_suite import DoorJobStoreSuite
from store.calls.edit_store_suite import EditStoreSuite
from store.calls.failure_store_suite import FailureStoreSuite
from store.calls.file_store_store_suite import FileStoreStoreSuite
from store.calls.fleet_store_suite import FleetStoreSuite
from store.calls.foreign_job_suite import ForeignJobSuite
from store.calls.job_file_store_suite import JobFileStoreSuite, file_calls
from store.calls.licence_store_suite import LicenceStoreSuite
from store.calls.line_store_suite import LineStoreSuite
from store.calls.permission_store_suite import PermissionStoreSuite
from store.calls.picture_store_suite import PictureStoreSuite, picture_calls
from store.calls.pool_store_suite import PoolStoreSuite
from store.calls.product_store_suite import ProductStoreSuite
from store.calls.query_store_suite import QueryStoreSuite
from store.calls.queue_store_suite import QueueStoreSuite
from store.calls.quota_store_suite import QuotaStoreSuite
from store.calls.saved_query_store_suite import SavedQueryStoreSuite
from store.calls.schedule_store_suite import ScheduleStoreSuite
from store.calls.secret_store_suite import SecretStoreSuite
from store.calls.session_store_suite import SessionStoreSuite
from store.calls.set_group_store_suite import SetGroupStoreSuite
from store.calls.source_store_suite import SourceStoreSuite
from store.calls.spending_store_suite import LimitStoreSuite
from store.calls.store_site import TRACE_ID, TREE, UNKEYED, StoreTests, refused
from store.calls.submission_suite import SubmissionSuite
from store.calls.tenant_store_suite import TenantStoreSuite
from store.calls.token_store_suite import TokenStoreSuite
from store.calls.trail_store_suite import TrailStoreSuite
from store.calls.transport_store_suite import TransportStoreSuite
from store.calls.user_store_suite import UserStoreSuite
from store.calls.why_store_suite import WhyStoreSuite
from weft.core.access.permissions import Permission
from weft.core.errors import (
    BatchNotFound,
    EventsGone,
    GroupNotFound,
    JobNotFound,
    JobNotRunning,
    JobOver,
    OperationNotFound,
    Unavailable,
)
from weft.core.states import JobState, Reason
from weft.ports.store import (
    Caller,
    EditLimits,
    JobQuery,
    NewBatch,
    NewSet,
    QueryLimits,
)
from weft.store import ApiStore
from weft.testing.builders import job_rows, start_report
from weft.wire.spec import JobSpec

NEW: Final = NewBatch(trace_id=TRACE_ID)
EDIT_LIMITS: Final = EditLimits(attributes_max=9, rename_groups_max=9)
EDIT: Final[Mapping[str, Any]] = {"patch": {"name": "x", "priority": 5}, "limits": EDIT_LIMITS}
ANY_JOB: Final = JobQuery(limit=9, limits=QueryLimits(timeout_s=30, scan_jobs_max=9))
SEEN: Final[Mapping[str, Any]] = {
    "cause_id": None, "job_ids": [1], "note": "", "until": None, "limit": 9
}  # fmt: skip


class CallerTests(StoreTests):
    """Callers see their own tenant only."""

    async def test_readiness_is_that_of_the_database(self) -> None:
        """Calls may be repeated when it is back."""
        await self.site.api.ready()
        async with self.site.open_api_away() as away:
            with refused(Unavailable):
                await away.ready()
            with refused(Unavailable):
                await away.get_batch(self.site.caller, 1)

    async def test_token_has_a_holder(self) -> None:
        """Until it expires; an unknown one has none."""
        token = await self.site.token()
        expired = await self.site.token(expired=True)
        found = await self.site.api.authenticate(token)
        assert found is not None
        assert replace(found, token_id=0) == self.site.caller
        assert await self.site.api.authenticate(expired) is None
        assert await self.site.api.authenticate(f"{token}x") is None

    async def test_batch_of_another_tenant_does_not_exist(self) -> None:
        """For any call, and none changes anything."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        batch = await self.site.submit(job_rows(2, group=[0, 1]), groups=TREE, name="secret")
        await api.create_update(caller, batch, n_jobs=1, n_groups=3, **UNKEYED)
        for call in calls_on_batch(api, stranger, batch):
            with refused(BatchNotFound):
                await call()
        document = await api.get_batch(caller, batch)
        assert (document["name"], document["n_ready"]) == ("secret", 2)
        assert not document["cancelled"]
        groups = await api.list_groups(caller, batch, after=-1, limit=9)
        assert [group["path"] for group in groups] == ["/", "/a", "/a/b", "/c"]
        jobs = await api.list_jobs(caller, batch, after=0, limit=9)
        assert [(job["name"], job["priority"], job["held"]) for job in jobs] == [
            (None, 0, False),
            (None, 0, False),
        ]

    async def test_lists_show_the_own_tenant(self) -> None:
        """Of batches, operations, events and counts."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        start = await api.events_now()
        batch, gone = await self.site.submit(1, name="secret"), await self.site.submit(1)
        operation = await api.delete_batch(caller, gone, **UNKEYED)
        for name in (None, "secret"):
            assert await api.list_batches(stranger, before=None, limit=9, name=name) == []
        assert await api.list_operations(stranger, before=None, limit=9, batch_id=None) == []
        with refused(OperationNotFound):
            await api.get_operation(stranger, operation)
        for of_batch in (None, batch):
            told = await api.list_events(stranger, after=start, batch_id=of_batch, limit=9)
            assert told == ([], start)
        overview = await api.overview(stranger)
        assert [overview[state] for state in ("running", "ready", "pending")] == [0, 0, 0]
        (listed,) = await api.list_batches(caller, before=None, limit=9, name=None)
        assert listed["id"] == batch


class ReadingTests(StoreTests):
    """Documents."""

    async def test_keys_of_batches_are_seen_by_whoever_sees_the_batches(self) -> None:
        """One that was created without a key has none."""
        api, caller, stranger = self.site.api, self.site.caller, self.site.stranger
        keyed, _ = await api.create_batch(caller, NEW, idempotency_key="a key", digest=b"")
        ids = [keyed, await self.site.submit(1), keyed + 1000]
        assert await api.list_batch_keys(caller, ids) == {keyed: "a key"}
        assert await api.list_batch_keys(stranger, ids) == {}

    async def test_batches_are_listed_newest_first_page_by_page(self) -> None:
        """Or those of a name."""
        api, caller = self.site.api, self.site.caller
        ids = [await self.site.submit(1, name=name) for name in "xyx"]
        page = await api.list_batches(caller, before=None, limit=2, name=None)
        assert [row["id"] for row in page] == [ids[2], ids[1]]
        page = await api.list_batches(caller, before=ids[1], limit=2, name=None)
        assert [row["id"] for row in page] == [ids[0]]
        page = await api.list_batches(caller, before=None, limit=9, name="x")
        assert [row["id"] for row in page] == [ids[2], ids[0]]
        assert page[0].keys() == (await api.get_batch(caller, ids[2])).keys()

    async def test_groups_are_read_by_number_and_path(self) -> None:
        """A list begins at the root; counts include what is below."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(3, group=[0, 1, 2]), groups=TREE)
        groups = await api.list_groups(caller, batch, after=-1, limit=3)
        assert [group["path"] for group in groups] == ["/", "/a", "/a/b"]
        assert [group["n_jobs"] for group in groups] == [3, 2, 1]
        (last,) = await api.list_groups(caller, batch, after=2, limit=3)
        assert last == await api.get_group(caller, batch, "/c")
        assert last == await api.get_group(caller, batch, 3)
        below = await api.list_child_groups(caller, batch, 0, after=0, limit=9)
        assert [group["path"] for group in below] == ["/a", "/c"]
        assert await api.list_child_groups(caller, batch, 0, after=1, limit=9) == [last]
        for unknown in (4, "/z"):
            with refused(GroupNotFound):
                await api.get_group(caller, batch, unknown)

    async def test_jobs_are_listed_in_order_page_by_page(self) -> None:
        """Or those in some states."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(5)
        await self.site.run(2)
        page = await api.list_jobs(caller, batch, after=1, limit=2)
        assert [(row["job_id"], row["state"]) for row in page] == [(2, "success"), (3, "ready")]
        page = await api.list_jobs(
            caller, batch, after=0, limit=2, states=[JobState.READY, JobState.RUNNING]
        )
        assert [row["job_id"] for row in page] == [3, 4]

    async def test_reasons_of_failed_jobs_are_counted_in_pages(self) -> None:
        """By their last attempts."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(3)
        await self.site.end(*await self.site.claim(), reason=Reason.EXIT)
        rows, after = await api.count_reasons(caller, batch, 0, after=0, limit=2)
        assert [(row["reason"], row["n_jobs"], row["first_job"]) for row in rows] == [
            ("exit", 2, 1)
        ]
        rows, after = await api.count_reasons(caller, batch, 0, after=after or 0, limit=2)
        assert ([row["first_job"] for row in rows], after) == ([3], None)

    async def test_job_is_read_with_its_details(self) -> None:
        """Its spec as it was sent."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(2, parents={2: [1]}, names={2: "two"}))
        job = await api.get_job(caller, batch, 2)
        assert (job["name"], job["state"], job["parents"]) == ("two", "pending", [1])
        assert job["spec"] == JobSpec()
        assert job["times"]["running_ms"] == 0
        with refused(JobNotFound):
            await api.get_job(caller, batch, 3)

    async def test_attempts_and_history_are_read_oldest_first(self) -> None:
        """The live attempt included."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        await self.site.run(reason=Reason.LOST)
        (claimed,) = await self.site.claim()
        store, incarnation_id = await self.site.worker()
        await store.start_attempts(incarnation_id, [start_report(claimed)])
        lost, live = await api.list_attempts(caller, batch, 1)
        assert (lost["attempt"], lost["reason"], live["attempt"]) == (1, "lost", 2)
        assert (live["ended_at"], live["started_at"] is None) == (None, False)
        history = await api.job_history(caller, batch, 1)
        assert [row["at"] for row in history] == sorted(row["at"] for row in history)
        assert (history[0]["from"], history[0]["to"]) == (None, "ready")
        assert (history[-1]["to"], history[-1]["attempt"]) == ("running", 2)
        for call in (api.list_attempts, api.job_history):
            with refused(JobNotFound):
                await call(caller, batch, 2)

    async def test_output_is_found_by_job_and_attempt(self) -> None:
        """Of the last attempt unless one is named; of a job that waits it is empty."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(2)
        await self.site.run(1, reason=Reason.LOST)
        await self.site.run(1)
        logs = await api.list_attempt_logs(caller, batch, [1, 2, 9], None)
        found = [(log.job_id, log.attempt, log.ended, log.state) for log in logs]
        assert found == [(1, 2, True, "success"), (2, 0, False, "ready")]
        (first,) = await api.list_attempt_logs(caller, batch, [1, 2], 1)
        assert (first.job_id, first.attempt, first.reason) == (1, 1, "lost")

    async def test_site_is_shown_with_its_database(self) -> None:
        """Whoever asks: the api asks for administrators only."""
        found = await self.site.api.get_system(limit=3)
        assert found["database"]["bytes"] > 0
        assert {"processes", "programs", "audit", "driver_settings", "at"} <= found.keys()

    async def test_workers_are_shown_with_what_they_offer(self) -> None:
        """And how many jobs wait and run."""
        api, caller = self.site.api, self.site.caller
        await self.site.submit(job_rows(3, parents={3: [1]}))
        await self.site.claim(1)
        overview = await api.overview(caller)
        assert [overview[state] for state in ("running", "ready", "pending")] == [1, 1, 1]
        assert len(overview["workers"]) > 0
        counts = await api.overview_counts(caller)
        assert {**counts, "workers": overview["workers"], "has_lines": False} == overview
        assert {"at", "n_waiting"} <= (await api.list_minutes(caller))[59].keys()
        assert await api.list_shares(caller, "no-such-pool", limit=9) == []
        offers = await api.pool_offers()
        assert {"cpu_m", "memory_mib", "offers"} <= offers[0].keys()
        sizes = [offer["memory_mib"] for offer in offers]
        assert sizes == sorted(sizes, reverse=True)


class CancelTests(StoreTests):
    """Cancels of groups and jobs."""

    async def test_cancelled_group_is_not_claimed(self) -> None:
        """Nor what is below it; its running jobs are stopped."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(3, group=[1, 2, 0]), groups=TREE)
        (running,) = await self.site.claim(1)
        assert await api.cancel_group(caller, batch, 1, force=False)
        assert not await api.cancel_group(caller, batch, 1, force=False)
        store, incarnation_id = await self.site.worker()
        key = (batch, running.job_id, running.attempt)
        assert list(await store.list_to_stop(incarnation_id, [key])) == [key]
        await self.site.end(running, reason=Reason.CANCELLED)
        assert await self.site.run() == [3]
        await self.site.drive()
        jobs = await api.list_jobs(caller, batch, after=0, limit=9)
        assert [job["state"] for job in jobs] == ["cancelled", "cancelled", "success"]
        with refused(GroupNotFound):
            await api.cancel_group(caller, batch, 9, force=False)

    async def test_jobs_that_run_always_are_cancelled_by_force(self) -> None:
        """Which may follow a cancel without it."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(job_rows(2, always_run=[True, False]))
        assert await api.cancel_group(caller, batch, 0, force=False)
        await self.site.drive()
        states = [(await api.get_job(caller, batch, job))["state"] for job in (1, 2)]
        assert states == ["ready", "cancelled"]
        assert await api.cancel_group(caller, batch, 0, force=True)
        assert not await api.cancel_group(caller, batch, 0, force=True)
        await self.site.drive()
        assert (await api.get_job(caller, batch, 1))["state"] == "cancelled"

    async def test_cancelled_jobs_are_answered_one_by_one(self) -> None:
        """All or none of a call."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(4)
        await self.site.run(1)
        await self.site.claim(1)
        outcomes = {1: "success", 2: "cancelling", 3: "cancelled"}
        assert await api.cancel_jobs(caller, batch, [1, 2, 3]) == outcomes
        with refused(JobNotFound):
            await api.cancel_jobs(caller, batch, [4, 5])
        assert await self.site.run() == [4]


class CommandTests(StoreTests):
    """What running jobs are told."""

    async def test_signals_and_messages_are_for_jobs_that_run(self) -> None:
        """Others are refused."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        with refused(JobNotRunning):
            await api.signal_job(caller, batch, 1, signal=10, word="USR1")
        with refused(JobNotRunning):
            await api.message_job(caller, batch, 1, text="x")

    async def test_extensions_add_up_until_the_job_has_ended(self) -> None:
        """Also of one that waits."""
        api, caller = self.site.api, self.site.caller
        batch = await self.site.submit(1)
        added = [await api.extend_job(caller, batch, 1, by_ms=by_ms) for by_ms in (1000, 500)]
        assert added == [1000, 1500]
        await api.cancel_jobs(caller, batch, [1])
        with refused(JobOver):
            await api.extend_job(caller, batch, 1, by_ms=1000)


class EventTests(StoreTests):
    """Events and their listeners."""

    async def test_events_are_read_in_order_and_none_twice(self) -> None:
        """In pages; of one batch, if asked."""
        api, caller = self.site.api, self.site.caller
        position = start = await api.events_now()
        batches = [await self.site.submit(2) for _ in range(2)]
        await self.site.run()
        whole, end = await api.list_events(caller, after=start, batch_id=None, limit=100)
        pages: list[Any] = []
        while len(pages) < len(whole):
            page, position = await api.list_events(caller, after=position, batch_id=None, limit=1)
            pages += page
        assert (pages, position) == (list(whole), end)
        assert await api.list_events(caller, after=end, batch_id=None, limit=9) == ([], end)
        kinds = {event["kind"] for event in whole}
        assert {"update.committed", "jobs.running", "jobs.success"} <= kinds
        of_one, _ = await api.list_events(caller, after=start, batch_id=batches[0], limit=100)
        assert of_one == [event for event in whole if event["batch_id"] == batches[0]]

    async def test_removed_events_are_gone(self) -> None:
        """For those who have not read them."""
        api, caller = self.site.api, self.site.caller
        start = await api.events_now()
        await self.site.submit(1)
        _, end = await api.list_events(caller, after=start, batch_id=None, limit=9)
        await self.site.remove_old()
        with refused(EventsGone):
            await api.list_events(caller, after=start, batch_id=None, limit=9)
        assert await api.list_events(caller, after=end, batch_id=None, limit=9) == ([], end)

    async def test_listener_that_waits_is_notified(self) -> None:
        """Of any event."""

        async def wait_and_submit() -> None:
            await self.site.api.wait_for_events()
            await self.site.submit(1)

        await self.site.notice("events", after=wait_and_submit)
        await self.site.api.wait_for_events(waits=False)


class ApiStoreSuite(
    CallerTests, ReadingTests, CancelTests, CommandTests, EventTests, CallbackStoreSuite,
    SubmissionSuite, SetGroupStoreSuite, EditStoreSuite, QueryStoreSuite, QueueStoreSuite,
    ScheduleStoreSuite, BillingStoreSuite, FleetStoreSuite, PoolStoreSuite, LicenceStoreSuite,
    PermissionStoreSuite, FailureStoreSuite, TokenStoreSuite, SessionStoreSuite, UserStoreSuite,
    TenantStoreSuite, QuotaStoreSuite, SecretStoreSuite, TrailStoreSuite, WhyStoreSuite,
    SavedQueryStoreSuite, LineStoreSuite, SourceStoreSuite, AppStoreSuite, FileStoreStoreSuite,
    ConditionStoreSuite,
    PictureStoreSuite, LimitStoreSuite, TransportStoreSuite, JobFileStoreSuite, ForeignJobSuite,
    DoorJobStoreSuite, ProductStoreSuite,
):  # fmt: skip
    """Tests of the port; see `StoreTests`."""


def job_sharing_calls(api: ApiStore, caller: Caller, batch: int) -> Sequence[partial[Any]]:
    """Return the calls about grants on jobs."""
    return (
        partial(api.share_job, caller, batch, 1, "ann", Permission.READ),
        partial(api.list_job_permissions, caller, batch, 1, after=0, limit=9),
        partial(api.sees_batch, caller, batch),
    )


def _calls_on_updates(api: ApiStore, caller: Caller, batch: int) -> Sequence[partial[Any]]:
    one = (caller, batch)
    return [
        partial(api.create_update, *one, n_jobs=1, n_groups=0, **UNKEYED),
        partial(api.get_update, *one, 1),
        partial(api.last_group_of_update, *one, 1),
        partial(api.add_groups, *one, 2, TREE),
        partial(api.add_jobs, *one, 2, job_rows(1)),
        partial(api.get_bunch, *one, 1, first_job=1, n_jobs=1),
        partial(api.commit_update, *one, 2),
    ]


def calls_on_batch(
    api: ApiStore, caller: Caller, batch: int
) -> Sequence[partial[Any]]:  # what each returns
    """Return every call that names a batch: the root, the group /a or the first job."""
    one = (caller, batch)
    return [
        *(call for group in (0, 1) for call in _calls_on_group(api, caller, batch, group)),
        partial(api.move_jobs, *one, [1], queue="default", pool=None),
        partial(api.unblock_job, *one, 1),
        partial(api.why_job, *one, 1),
        partial(api.why_jobs, *one, [1]),
        partial(api.get_group, *one, "/a"),
        partial(api.submit, *one, [], job_rows(1), **UNKEYED),
        *_calls_on_updates(api, *one),
        partial(api.add_payload_part, *one, bytes(32), 1, b"x", n_bytes=1),
        partial(api.missing_payloads, *one, [bytes(32)]),
        partial(api.get_batch, *one),
        partial(api.list_groups, *one, after=-1, limit=9),
        partial(api.list_child_groups, *one, 0, after=0, limit=9),
        *picture_calls(api, *one),
        partial(api.list_callbacks, *one, after=0, limit=9),
        partial(api.redeliver_callback, *one, 1),
        partial(api.list_jobs, *one, after=0, limit=9),
        partial(api.list_job_entries, *one, after=0, limit=9),
        partial(api.count_reasons, *one, 0, after=0, limit=9),
        partial(api.list_causes, *one, show_all=True, limit=9),
        partial(api.list_dead_letters, caller, batch_id=batch, limit=9),
        partial(api.acknowledge_failures, *one, **SEEN),
        partial(api.get_job, *one, 1),
        partial(api.list_attempts, *one, 1),
        partial(api.job_history, *one, 1),
        partial(api.list_attempt_logs, *one, [1], None),
        partial(api.cancel_jobs, *one, [1]),
        partial(api.change_status, *one, 1, status="over", message=None),
        partial(api.signal_job, *one, 1, signal=10, word="USR1"),
        partial(api.message_job, *one, 1, text="x"),
        partial(api.extend_job, *one, 1, by_ms=1000),
        partial(api.create_set, *one, NewSet(name="s")),
        partial(
            api.create_query_set, *one, NewSet(name="s"), query="", within_group=None, **UNKEYED
        ),
        partial(api.add_members, *one, 1, [1]),
        partial(api.delete_batch, *one, **UNKEYED),
        partial(api.hide_batch, *one, hidden=True),
        partial(api.share_batch, *one, "ann", Permission.READ),
        partial(api.list_permissions, *one, after=0, limit=9),
        *job_sharing_calls(api, *one),
        *file_calls(api, *one),
        partial(api.retry_jobs, *one, job_ids=None, query=None, within_group=None, **UNKEYED),
        partial(api.resubmit_batch, *one, failed=False, changes={}, **UNKEYED),
        partial(api.edit_job, *one, 1, **EDIT),
        partial(api.hold_jobs, *one, [1]),
        partial(api.release_jobs, *one, [1]),
        partial(api.query_jobs, *one, ANY_JOB),
        partial(api.query_job_entries, *one, ANY_JOB),
        partial(api.explain_jobs, *one, ANY_JOB),
        partial(api.list_limits, *one, after=0, limit=9),
    ]


def _calls_on_group(
    api: ApiStore, caller: Caller, batch: int, group: int
) -> Sequence[partial[Any]]:  # what each returns
    one = (caller, batch, group)
    return [
        partial(api.get_group, *one),
        partial(api.cancel_group, *one, force=True),
        partial(api.edit_group, *one, **{**EDIT, "patch": {"name": "x"}}),
        partial(api.prioritize_group, *one, trace_id=TRACE_ID, **EDIT),
        partial(api.hold_group, *one),
        partial(api.release_group, *one),
        partial(api.group_history, *one, before=None, limit=9),
        partial(api.why_group, *one),
    ]
