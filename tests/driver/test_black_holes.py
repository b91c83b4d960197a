"""The loops that cordon workers on which attempts fail at once, that look at all jobs that have
not ended, and that give schedules their runs.
"""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from structlog.testing import capture_logs

from cases import cases
from driver.fake_store import FakeDriverStore, run_until
from weft.driver.loops import black_holes, patrol, schedules
from weft.driver.loops.bell import Bell
from weft.ports.store import DueSchedule, Patrolled, Position, Row
from weft.settings import Settings
from weft.telemetry import metrics

SETTINGS = Settings(black_hole_failures=2, black_hole_batches=2, black_hole_retry_s=60.0)


async def one_look(
    store: FakeDriverStore, settings: Settings = SETTINGS, *, moves: int = 1
) -> None:
    asked = ("move_black_hole", moves) if moves else ("black_holes", 1)
    await run_until(store, black_holes.LOOP, *asked, settings=settings)


def failing() -> list[Row]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    good = {"worker_id": 2, "pool_id": 1, "batch_id": 9, "at": at + timedelta(hours=1)}
    bad = [
        {"worker_id": 1, "pool_id": 1, "batch_id": batch, "at": at, "fast_failures": 1}
        for batch in (1, 2)
    ]
    return [{**good, "successes": 1}, *bad]


async def test_black_hole_is_cordoned() -> None:
    store = FakeDriverStore()
    store.ends = failing()
    await one_look(store)

    assert store.black_hole_moves == [(1, "cordon", 60.0)]


async def test_none_is_sought_if_the_setting_says_so() -> None:
    store = FakeDriverStore()
    store.ends = failing()
    await one_look(store, Settings(black_hole_failures=0), moves=0)

    assert store.calls["recent_ends"] == 0
    assert store.black_hole_moves == []


@cases(
    ("outcome", "due_in_s", "n_tries", "moves"),
    [
        ("none", 5.0, 0, []),
        ("none", -1.0, 2, [(1, "try", 240.0)]),
        ("running", None, 0, []),
        ("success", -1.0, 3, [(1, "uncordon", 0)]),
        ("failure", -1.0, 0, [(1, "wait", 120.0)]),
        ("unknown", -1.0, 1, [(1, "wait", 240.0)]),
        ("failure", None, 1, []),
    ],
)
async def test_tries_follow_their_outcome(
    outcome: str, due_in_s: float | None, n_tries: int, moves: list[object]
) -> None:
    store = FakeDriverStore()
    store.black_hole_rows = [
        {
            "worker_id": 1,
            "worker": "w1",
            "n_tries": n_tries,
            "outcome": outcome,
            "due_in_s": due_in_s,
        }
    ]
    await one_look(store, moves=len(moves))

    assert store.black_hole_moves == moves


ORPHAN = {"batch_id": 7, "job_id": 3, "state": "pending"}


async def looks(store: FakeDriverStore, bell: Bell, times: int) -> None:
    """Run the loop until it has called the store so often."""
    settings = replace(Settings(), patrol_every_s=0.001)
    await run_until(store, patrol.LOOP, "patrol", times, settings=settings, bell=bell)


async def test_orphans_are_counted_and_told_in_each_look() -> None:
    store = FakeDriverStore()
    first, second = Position(1, 7, 1000), Position(1, 8)
    store.patrolled.extend(
        [
            Patrolled(first, 5, [ORPHAN, ORPHAN]),
            Patrolled(second, 1, [ORPHAN]),
            None,
            Patrolled(second, 3, [ORPHAN] * 3),
            None,
        ]
    )
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


async def test_each_due_schedule_gets_its_runs_and_its_next_time() -> None:
    store = FakeDriverStore()
    due = datetime(2026, 5, 1, 2, tzinfo=UTC)
    now = due + timedelta(days=1, seconds=5)
    store.schedules.extend(
        [
            [
                DueSchedule(1, "0 2 * * *", "UTC", "skip", due, now),
                DueSchedule(2, "0 2 * * *", "UTC", "all", due, now),
            ],
            [],
        ]
    )
    await run_until(store, schedules.LOOP, "schedules due")

    tomorrow, later = due + timedelta(days=1), due + timedelta(days=2)
    assert [(one.runs, one.next_at, one.n_missed) for one in store.moves] == [
        ([tomorrow], later, 1),
        ([due, tomorrow], later, 0),
    ]
    assert {one.expected for one in store.moves} == {due}
