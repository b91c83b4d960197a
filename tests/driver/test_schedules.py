"""The loop that gives schedules their runs."""

import asyncio
from datetime import UTC, datetime, timedelta

from driver.fake_store import FakeDriverStore
from weft.driver.loops import schedules
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.ports.store import DueSchedule
from weft.settings import Settings


async def test_each_due_schedule_gets_its_runs_and_its_next_time() -> None:
    store = FakeDriverStore()
    due = datetime(2026, 5, 1, 2, tzinfo=UTC)
    now = due + timedelta(days=1, seconds=5)
    store.schedules.extend([
        [
            DueSchedule(1, "0 2 * * *", "UTC", "skip", due, now),
            DueSchedule(2, "0 2 * * *", "UTC", "all", due, now),
        ],
        [],
    ])  # fmt: skip
    context = LoopContext(
        store, 0, Settings(), Bell(), DueDate(), moved=lambda: None, ring=lambda _: None
    )
    running = asyncio.ensure_future(schedules.LOOP.run(context))
    await store.until("schedules_due", 1)
    running.cancel()

    tomorrow, later = due + timedelta(days=1), due + timedelta(days=2)
    assert [(one.runs, one.next_at, one.n_missed) for one in store.moves] == [
        ([tomorrow], later, 1),
        ([due, tomorrow], later, 0),
    ]
    assert {one.expected for one in store.moves} == {due}
