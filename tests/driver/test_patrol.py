"""The loop that looks at all jobs that have not ended."""

import asyncio
from dataclasses import replace

from structlog.testing import capture_logs

from driver.fake_store import FakeDriverStore
from weft.driver.loops import patrol
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.ports.store import Patrolled, Position
from weft.settings import Settings
from weft.telemetry import metrics

ORPHAN = {"batch_id": 7, "job_id": 3, "state": "pending"}


async def looks(store: FakeDriverStore, bell: Bell, times: int) -> None:
    """Run the loop until it has called the store so often."""
    context = LoopContext(
        store, 0, replace(Settings(), patrol_every_s=0.001), bell, DueDate(),
        moved=lambda: None, ring=lambda _: None,
    )  # fmt: skip
    running = asyncio.ensure_future(patrol.LOOP.run(context))
    await store.until("patrol", times)
    running.cancel()


async def test_orphans_are_counted_and_told_in_each_look() -> None:
    store = FakeDriverStore()
    first, second = Position(1, 7, 1000), Position(1, 8)
    store.patrolled.extend([
        Patrolled(first, 5, [ORPHAN, ORPHAN]), Patrolled(second, 1, [ORPHAN]), None,
        Patrolled(second, 3, [ORPHAN] * 3), None,
    ])  # fmt: skip
    with capture_logs() as logs:
        await looks(store, Bell(), 5)
    n_orphans = metrics.ORPHANED_JOBS._value.get()
    healed, n_overdue = FakeDriverStore(), metrics.JOBS_OVERDUE._value.get()
    row = {"batch_id": 7, "n_jobs": 4, "message": "it was ready for longer than 60 s"}
    ended, nothing = Patrolled(second, 1, [], [row]), Patrolled(second, 1, [])
    healed.patrolled.extend([ended, None, nothing, None])
    await looks(healed, Bell(), 3)

    told = [(one["event"], one["jobs"], one["job"]) for one in logs]
    assert told[:3] == [("jobs.orphaned", n_jobs, "b7.j3") for n_jobs in (2, 1, 3)]
    assert store.positions == [Position(), first, second, Position(), second]
    assert (n_orphans, metrics.ORPHANED_JOBS._value.get()) == (3, 0)
    assert metrics.JOBS_OVERDUE._value.get() - n_overdue == 4


async def test_without_jobs_it_waits_for_the_next_fold() -> None:
    store, bell = FakeDriverStore(), Bell()
    await looks(store, bell, 1)
    asleep = asyncio.ensure_future(looks(store, bell, 3))
    await store.until("patrol", 2)
    bell.ring()
    await asleep

    assert store.positions == [Position()] * 3
