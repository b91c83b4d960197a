"""The loop that stops preemptible jobs for jobs of queues of higher priority."""

import asyncio

import pytest

from driver.fake_store import FakeDriverStore
from weft.driver.loops import preempt
from weft.driver.loops.bell import Bell, DueDate
from weft.driver.loops.loop import LoopContext
from weft.ports.store import Row
from weft.settings import Settings

JOB = {"job_id": 1, "tenant_id": 1, "cpu_m": 1000, "memory_mib": 1}
WAITING = {**JOB, "batch_id": 1, "priority": 1}
RUNNING = {**JOB, "batch_id": 2, "attempt": 1, "may_be_stopped": True}


def row(*, free_m: int) -> Row:
    host = {"name": "w", "cpu_m": 1000 + free_m, "memory_mib": 9, "running": [RUNNING]}
    return {"pool": "default", "waiting": [WAITING], "hosts": [host]}


async def looks(store: FakeDriverStore, after_s: float, *, until: str) -> Bell:
    """Run the loop until it has asked something of the store; return its bell."""
    bell = Bell()
    context = LoopContext(
        store, 0, Settings(preempt_after_s=after_s), bell, DueDate(),
        moved=lambda: None, ring=lambda _: None,
    )  # fmt: skip
    running = asyncio.ensure_future(preempt.LOOP.run(context))
    await store.until(until, 1)
    running.cancel()
    return bell


async def test_job_without_room_stops_another_one() -> None:
    store = FakeDriverStore()
    store.preemptions = [row(free_m=0)]
    await looks(store, 0, until="preempt_jobs")

    assert store.preempted == [((1, 1), [(2, 1, 1)])]


@pytest.mark.parametrize(("free_m", "after_s"), [(1000, 0), (0, 3600)])
async def test_nobody_is_stopped_for_a_job_that_fits_or_has_just_come(
    free_m: int, after_s: float
) -> None:
    store = FakeDriverStore()
    store.preemptions = [row(free_m=free_m)]
    await looks(store, after_s, until="preemption_rounds")

    assert store.preempted == []
