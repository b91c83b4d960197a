"""Whoever counts failures of several groups locks their counters once, in one order: two who count
the same groups at once wait for each other, and never turn in a circle.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from builders import end_report, job_rows
from store.world import Worker, World
from weft.core.queues import Queue
from weft.core.states import Reason
from weft.ports.store import UNKEYED, Claimed, NewGroup, Shape
from weft.store.database import call_on
from weft.store.end_columns import end_columns
from weft.wire.documents.queues import MonitorDocument

GROUPS = [
    NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=9),
    NewGroup(group_id=2, parent_id=0, name="b", cancel_after_n_failures=9),
]
GONE = Shape(words=(("queue", "gone"),))
"""Of jobs that cannot go back into their queue."""


async def end(
    world: World, worker: Worker, claimed: Sequence[Claimed], reasons: Sequence[Reason]
) -> Any:  # noqa: ANN401 (verdicts)
    """Report ends on a connection of its own, and do not try again."""
    columns = end_columns([
        end_report(one, reason) for one, reason in zip(claimed, reasons, strict=True)
    ])  # fmt: skip
    connection = await world.connect("weft_worker")
    rows = await call_on(connection, "complete_attempts", incarnation_id=worker.id, **columns)
    return rows[0][0]


async def failures(world: World, batch: int) -> list[int]:
    rows = await world.admin.fetch(
        "SELECT n_failures FROM weft.failure_count WHERE batch_id = $1 ORDER BY group_id", batch
    )
    return [row["n_failures"] for row in rows]


async def test_ends_of_which_one_cannot_go_back_into_its_queue(world: World) -> None:
    """A job of the second group fails; one of the first is to be tried again, and cannot be."""
    rows = job_rows(
        5, group=[2, 1, 1, 2, 0], parents={5: [1]}, shapes=[Shape(), GONE],
        shape_index=[0, 1, 0, 0, 0], max_attempts=2, retry_on=[Reason.EXIT],
    )  # fmt: skip
    batch = await world.submit(rows, groups=GROUPS)
    worker = await world.worker()
    claimed = sorted(await worker.claim(), key=lambda one: one.job_id)
    await worker.start(*claimed)
    async with world.transaction() as holder:
        await holder.execute(
            "SELECT FROM weft.job WHERE batch_id = $1 AND job_id = 5 FOR UPDATE", batch
        )
        first = await world.start_waiting(
            end(world, worker, claimed[:2], [Reason.OOM, Reason.EXIT])
        )
        second = asyncio.create_task(end(world, worker, claimed[2:], [Reason.OOM, Reason.OOM]))
        await world.until_somebody_waits(2)
    verdicts = [await first, await second]
    await world.sweep()

    assert verdicts == [["ok", "ok"], ["ok", "ok"]]
    assert await world.states(batch) == "eeeec"
    assert await failures(world, batch) == [2, 2]


async def test_jobs_that_waited_too_long_for_several_reasons(world: World, worker: Worker) -> None:
    """A blocked job of the second group, and one of the first that is ready."""
    limits = msgspec.to_builtins(MonitorDocument(ready_s=60, blocked_s=60))
    queue = Queue(name="q", priority=1, pools=(world.pool,), monitor=limits)
    await world.api.save_queues(world.caller, [queue])
    rows = job_rows(
        4, group=[2, 1, 2, 1], priority=[9, 9, 9, 0], max_attempts=2,
        shapes=[Shape(words=(("pool", world.pool), ("queue", "q")))],
    )  # fmt: skip
    batch = await world.submit(rows, groups=GROUPS)
    blocked, *claimed = sorted(await worker.claim(3), key=lambda one: one.job_id)
    await worker.store.complete_attempts(
        worker.id, [end_report(blocked, Reason.EXIT, exit_code=75)]
    )
    at = datetime.now(UTC) + timedelta(seconds=3600)
    before = await world.states(batch)
    holder, patrol = await world.connect(), await world.connect()
    async with holder.transaction():
        await holder.execute("SELECT pg_advisory_xact_lock(7701, 0)")  # nobody may announce
        first = await world.start_waiting(
            call_on(patrol, "_end_overdue", of_batch_id=batch, after_job=0, last_job=99, at=at)
        )
        second = asyncio.create_task(end(world, worker, claimed, [Reason.OOM, Reason.OOM]))
        await world.until_somebody_waits(2)
    ended, _ = await first, await second

    assert before == "bRRr"
    assert [row["n_jobs"] for row in ended] == [1, 1]
    assert await world.states(batch) == "eeee"
    assert await failures(world, batch) == [2, 2]


async def test_nth_failure_while_members_are_added_to_a_set(world: World, worker: Worker) -> None:
    """The report cancels the group under the lock of the batch, and has counted in the set."""
    groups = [
        NewGroup(group_id=1, parent_id=0, name="a", cancel_after_n_failures=1),
        NewGroup(group_id=2, parent_id=0, name="s", is_set=True, cancel_after_n_failures=9),
    ]
    batch = await world.submit(job_rows(2, group=[1, 0], sets={1: (-2,)}), groups=groups)
    claimed = sorted(await worker.claim(), key=lambda one: one.job_id)
    async with world.transaction("weft_api") as adder:
        await adder.execute(
            "SELECT pg_advisory_xact_lock_shared($1)", batch
        )  # as add_members does
        report = await world.start_waiting(end(world, worker, claimed[:1], [Reason.OOM]))
        (added,) = await call_on(
            adder, "add_members", tenant_id=world.caller.tenant_id, batch_id=batch, group_id=2,
            job_ids=[2], sets_max=9,
        )  # fmt: skip

    assert await report == ["ok"]
    assert (added["n_added"], added["busy"]) == (0, [2])  # they are added with the next call


async def test_nth_failure_while_jobs_are_retried(world: World, worker: Worker) -> None:
    """It holds the counter, and waits for the batch, of which the retry has a share."""
    batch = await world.submit(2, cancel_after_n_failures=3)
    for claimed in await worker.claim():
        await worker.end(claimed, reason=Reason.EXIT)
    operation = await world.api.retry_jobs(world.caller, batch, UNKEYED)
    step = partial(
        world.driver.retry_failed, await world.lead(), operation,
        matching=None, looked_upto=None, limit=9,
    )  # fmt: skip
    async with world.transaction("admin") as other:
        await other.execute("SELECT FROM weft.failure_count WHERE batch_id = $1 FOR UPDATE", batch)
        during = await step(), await world.states(batch)
    after = await step(), await world.states(batch)

    assert during == ("busy", "ff")
    assert after == ("moved", "rr")
