"""The loop that stops attempts which are beyond a limit of their queue."""

import asyncio
from typing import Any

from driver.fake_store import FakeDriverStore
from weft.driver.loops import monitor
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.settings import Settings
from weft.telemetry import metrics

NOTHING: dict[str, Any] = {"batch_id": None, "job_id": None, "attempt": None, "goes_on": None}


def counted() -> list[float]:
    outcomes = [metrics.ATTEMPTS_OVERDUE.labels(one) for one in ("requeued", "ended")]
    return [one._value.get() for one in (*outcomes, metrics.WORKERS_LOST)]


async def test_what_is_stopped_is_counted_until_nothing_is_left() -> None:
    store, before = FakeDriverStore(), counted()
    job = {"batch_id": 1, "job_id": 1, "attempt": 1, "worker": "w", "message": "too long"}
    store.overdue.append([{**job, "goes_on": True}, {**job, "goes_on": True}])
    store.overdue.append([{**job, "goes_on": False}])
    store.overdue.append([{**NOTHING, "worker": "w", "message": "did not stop"}])
    context = LoopContext(
        store, 0, Settings(), Bell(), DueDate(), moved=lambda: None, ring=lambda _: None
    )
    running = asyncio.ensure_future(monitor.LOOP.run(context))
    await store.until("stop_overdue", 4)
    running.cancel()

    assert [now - then for now, then in zip(counted(), before, strict=True)] == [2, 1, 1]
