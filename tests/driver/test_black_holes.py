"""The loop that cordons workers on which attempts fail at once."""

import asyncio
from datetime import UTC, datetime, timedelta

from cases import cases
from driver.fake_store import FakeDriverStore
from weft.driver.loops import black_holes
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.ports.store import Row
from weft.settings import Settings

SETTINGS = Settings(black_hole_failures=2, black_hole_batches=2, black_hole_retry_s=60.0)


async def one_look(
    store: FakeDriverStore, settings: Settings = SETTINGS, *, moves: int = 1
) -> None:
    context = LoopContext(
        store, 0, settings, Bell(), DueDate(), moved=lambda: None, ring=lambda _: None
    )
    running = asyncio.ensure_future(black_holes.LOOP.run(context))
    await store.until("black_holes", 1)
    await store.until("move_black_hole", moves)
    running.cancel()


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
            "worker_id": 1, "worker": "w1", "n_tries": n_tries, "outcome": outcome,
            "due_in_s": due_in_s,
        }
    ]  # fmt: skip
    await one_look(store, moves=len(moves))

    assert store.black_hole_moves == moves
