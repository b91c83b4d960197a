"""The loops that stop attempts: beyond a limit of their queue, and for jobs of queues of higher
priority.
"""

from typing import Any

import pytest

from driver.fake_store import FakeDriverStore, run_until
from weft.driver.loops import stopping
from weft.driver.loops.bell import Bell
from weft.ports.store import Row
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
    await run_until(store, stopping.MONITOR, "stop_overdue", 4)

    assert [now - then for now, then in zip(counted(), before, strict=True)] == [2, 1, 1]


JOB = {"job_id": 1, "tenant_id": 1, "cpu_m": 1000, "memory_mib": 1}
WAITING = {**JOB, "batch_id": 1, "priority": 1}
RUNNING = {**JOB, "batch_id": 2, "attempt": 1, "may_be_stopped": True}


def row(*, free_m: int) -> Row:
    host = {"name": "w", "cpu_m": 1000 + free_m, "memory_mib": 9, "running": [RUNNING]}
    return {"pool": "default", "waiting": [WAITING], "hosts": [host]}


async def looks(store: FakeDriverStore, after_s: float, *, until: str) -> Bell:
    """Run the loop until it has asked something of the store; return its bell."""
    bell = Bell()
    settings = Settings(preempt_after_s=after_s)
    await run_until(store, stopping.PREEMPT, until, settings=settings, bell=bell)
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
