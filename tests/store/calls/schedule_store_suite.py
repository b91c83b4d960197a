"""What every adapter of the port `ScheduleStore` must do: a part of the api's suite."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from store.calls.store_site import TRACE_ID, StoreSite, StoreTests, refused
from weft.core.errors import (
    IdempotencyConflict,
    ProjectNotFound,
    ScheduleNotFound,
    TooManySchedules,
)
from weft.ports.store import (
    DueSchedule,
    NewBatch,
    NewSchedule,
    ScheduleMove,
    ScheduleRun,
)
from weft.store import DriverStore

MANY = 1000
RUNS_KEPT = 10


async def add_schedule(site: StoreSite, *, due_in_s: float = 3600) -> int:
    """Make a schedule of the caller that is due in this time."""
    new = NewSchedule(
        name="nightly",
        cron="0 2 * * *",
        document='{"jobs": [{"command": ["true"]}]}',
        next_at=datetime.now(UTC) + timedelta(seconds=due_in_s),
    )
    schedule_id, _ = await site.api.add_schedule(
        site.caller, new, schedules_max=MANY, idempotency_key=None, digest=b""
    )
    return schedule_id


async def due_schedule(site: StoreSite, schedule_id: int) -> DueSchedule | None:
    """Return what the driver is told of a schedule; None: it is not due."""
    found = await site.driver.due_schedules(await site.lead(), limit=MANY)
    return next((one for one in found if one.schedule_id == schedule_id), None)


async def begin_runs(site: StoreSite, schedule_id: int, n_runs: int = 1) -> ScheduleMove:
    """Let the driver give a schedule that is due its runs, and a date in an hour."""
    due = await due_schedule(site, schedule_id)
    assert due is not None
    runs = [due.next_at + timedelta(seconds=n) for n in range(n_runs)]
    move = ScheduleMove(schedule_id, due.next_at, due.now + timedelta(hours=1), 3, runs)
    assert await site.driver.begin_schedule_runs(await site.lead(), [move]) == n_runs
    return move


class ScheduleStoreSuite(StoreTests):
    """Tests of the port `ScheduleStore`."""

    async def taken(self, schedule_id: int, *, lease_s: float = 3600) -> list[ScheduleRun]:
        """Take runs; return those of a schedule."""
        found = await self.site.api.take_schedule_runs(limit=MANY, lease_s=lease_s)
        return [one for one in found if one.schedule_id == schedule_id]

    async def test_schedules_are_of_a_tenant(self) -> None:
        """They are listed page by page and shown; for a stranger they do not exist."""
        api, caller = self.site.api, self.site.caller
        ids = [await add_schedule(self.site) for _ in range(3)]
        pages = [await api.list_schedules(caller, after=after, limit=2) for after in (0, ids[1])]
        assert [[one["schedule_id"] for one in page] for page in pages] == [ids[:2], ids[2:]]
        assert await api.list_schedules(self.site.stranger, after=0, limit=9) == []
        found = await api.get_schedule(caller, ids[0])
        assert (found["name"], found["user_id"], found["runs"]) == ("nightly", caller.user_id, [])
        for call in (api.get_schedule, api.delete_schedule):
            with refused(ScheduleNotFound):
                await call(self.site.stranger, ids[0])
        with refused(ScheduleNotFound):
            await api.change_schedule(self.site.stranger, ids[0], {"paused": True})

    async def test_schedule_is_added_once_and_within_the_limit(self) -> None:
        """A repeat with the same key gives the same schedule."""
        api, caller = self.site.api, self.site.caller
        new = NewSchedule(cron="* * * * *", document="{}", next_at=datetime.now(UTC))
        key: dict[str, Any] = {"schedules_max": 1, "idempotency_key": "k"}
        first = await api.add_schedule(caller, new, digest=b"1", **key)
        assert await api.add_schedule(caller, new, digest=b"1", **key) == (first[0], False)
        with refused(IdempotencyConflict):
            await api.add_schedule(caller, new, digest=b"2", **key)
        with refused(TooManySchedules):
            await api.add_schedule(caller, new, schedules_max=1, idempotency_key=None, digest=b"")
        await api.delete_schedule(caller, first[0])
        missing = NewSchedule(
            cron="* * * * *", document="{}", next_at=new.next_at, billing_project="none"
        )
        with refused(ProjectNotFound):
            await api.add_schedule(
                caller, missing, schedules_max=1, idempotency_key=None, digest=b""
            )

    async def test_paused_schedule_is_not_due(self) -> None:
        """And its runs that nobody has submitted are dropped; resumed it goes on."""
        api, caller = self.site.api, self.site.caller
        schedule_id = await add_schedule(self.site, due_in_s=-60)
        await begin_runs(self.site, schedule_id, 2)
        await api.change_schedule(caller, schedule_id, {"paused": True, "name": None})
        found = await api.get_schedule(caller, schedule_id)
        assert (found["state"], found["pause_reason"], found["next_at"], found["runs"]) == (
            "paused", "user", None, [],
        )  # fmt: skip
        assert await self.taken(schedule_id) == []
        past = datetime.now(UTC).isoformat()
        patch = {"paused": False, "next_at": past, "missed": "all", "cron": "1 2 * * *"}
        await api.change_schedule(caller, schedule_id, patch)
        due = await due_schedule(self.site, schedule_id)
        assert due is not None
        assert (due.missed, due.cron, due.time_zone) == ("all", "1 2 * * *", "UTC")
        assert (await api.get_schedule(caller, schedule_id))["name"] is None

    async def test_run_is_taken_by_one_api_at_a_time(self) -> None:
        """When its time is over, or it ends with a batch, the next one is asked."""
        api, caller = self.site.api, self.site.caller
        schedule_id = await add_schedule(self.site, due_in_s=-60)
        (due_at,) = (await begin_runs(self.site, schedule_id)).runs
        (run,) = await self.taken(schedule_id, lease_s=-1)
        assert (run.due_at, run.owner, run.time_zone) == (due_at, caller, "UTC")
        assert not run.owner.in_turn  # runs of others come after this one
        wait_s = await api.next_schedule_run()
        assert wait_s is not None
        assert wait_s < 0
        assert len(await self.taken(schedule_id)) == 1
        assert await self.taken(schedule_id) == []
        for _ in range(2):
            assert not await api.end_schedule_run(caller, schedule_id, due_at, batch_id=7)
        (shown,) = (await api.get_schedule(caller, schedule_id))["runs"]
        assert (shown["batch_id"], shown["error"], shown["by_hand"]) == (7, None, False)
        assert await self.taken(schedule_id) == []

    async def test_refused_runs_pause_a_schedule(self) -> None:
        """Ten in a row by default; a batch that is there all the same is none."""
        api, caller = self.site.api, self.site.caller
        schedule_id = await add_schedule(self.site)
        error = {"code": "X", "message": "no", "detail": "", "hint": ""}
        batch, _ = await api.create_batch(
            caller, NewBatch(trace_id=TRACE_ID), idempotency_key="there", digest=b""
        )
        now = datetime.now(UTC)
        await api.end_schedule_run(caller, schedule_id, now, error=error, idempotency_key="there")
        found = await api.get_schedule(caller, schedule_id)
        assert (found["last_run"]["batch_id"], found["n_failures"]) == (batch, 0)
        paused = [
            await api.end_schedule_run(
                caller, schedule_id, now + timedelta(seconds=n), error=error
            )
            for n in range(1, 12)
        ]
        found = await api.get_schedule(caller, schedule_id)
        assert paused == [False] * 9 + [True, False]
        assert (found["state"], found["pause_reason"]) == ("paused", "failures")
        assert len(found["runs"]) == RUNS_KEPT
        assert found["runs"][0]["error"] == error


class DueScheduleTests(StoreTests):
    """What a driver does with schedules."""

    async def test_schedule_that_is_due_moves_on_once(self) -> None:
        """Its runs are there once; it is due again when they have ended. A notice tells apis."""
        schedule_id = await add_schedule(self.site, due_in_s=-60)
        epoch = await self.site.lead()
        assert (await self.site.driver.schedules_due(epoch) or 0) < 0
        moves = []

        async def begin() -> None:
            moves.append(await begin_runs(self.site, schedule_id, 2))

        await self.site.notice("schedules", after=begin)
        assert await self.site.driver.begin_schedule_runs(epoch, moves) == 0
        due = await self.site.driver.due_schedules(epoch, limit=MANY)
        assert schedule_id not in {one.schedule_id for one in due}
        found = await self.site.api.get_schedule(self.site.caller, schedule_id)
        assert (len(found["runs"]), found["n_missed"]) == (2, 3)
        assert datetime.fromisoformat(found["next_at"]) == moves[0].next_at
        past = {"next_at": datetime.now(UTC).isoformat()}
        await self.site.api.change_schedule(self.site.caller, schedule_id, past)
        for due_at in moves[0].runs:
            assert await due_schedule(self.site, schedule_id) is None
            await self.site.api.end_schedule_run(
                self.site.caller, schedule_id, due_at, batch_id=round(due_at.timestamp())
            )
        assert await due_schedule(self.site, schedule_id) is not None
        await self.site.api.delete_schedule(self.site.caller, schedule_id)

    async def test_schedule_that_is_never_due_again_is_paused(self) -> None:
        """It says that it is over."""
        schedule_id = await add_schedule(self.site, due_in_s=-60)
        due = await due_schedule(self.site, schedule_id)
        assert due is not None
        move = ScheduleMove(schedule_id, due.next_at, None, 0, [due.next_at])
        await self.site.driver.begin_schedule_runs(await self.site.lead(), [move])
        found = await self.site.api.get_schedule(self.site.caller, schedule_id)
        assert (found["state"], found["pause_reason"]) == ("paused", "over")


def schedule_calls(driver: DriverStore, epoch: int) -> list[Callable[[], Awaitable[object]]]:
    """Return the driver's calls about schedules."""
    return [
        partial(driver.schedules_due, epoch),
        partial(driver.due_schedules, epoch, limit=1),
        partial(driver.begin_schedule_runs, epoch, []),
    ]
