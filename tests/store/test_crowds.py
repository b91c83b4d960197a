"""Jobs with very many parents or children: nobody waits long for a row, nothing is forgotten."""

import asyncio
from typing import Any

import asyncpg
import pytest

from builders import end_report, job_rows, tree
from store.batch_steps import open_update
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Claimed
from weft.store.database import call_on
from weft.store.end_columns import end_columns

pytestmark = pytest.mark.slow
N = 1500
"""More than 1,000: the end of a parent is only noted while that many others have not ended."""
CHILD = N + 1


async def gather(world: World, **columns: Any) -> tuple[int, Worker, list[Claimed]]:  # noqa: ANN401 (as job_rows)
    """Let a worker claim N jobs, for all of which one more waits; return batch, worker, claims."""
    rows = job_rows(N + 1, parents={CHILD: range(1, CHILD)}, **columns)
    return await world.submit_and_claim(rows, limit=N)


async def noted(world: World, batch: int) -> int:
    """Return how many ends of parents are noted and not counted."""
    n: int = await world.admin.fetchval(
        "SELECT coalesce(sum(n), 0) FROM weft.parent_end WHERE batch_id = $1", batch
    )
    return n


async def count(world: World) -> int:
    """Let the driver count what was noted."""
    return await world.driver.sweep("count_parent_ends", await world.lead(), limit_jobs=1000)


async def end_all(worker: Worker, claimed: list[Claimed]) -> None:
    """Report ends in sets, as an agent does: one of more than 1,000 would be left to the sweep."""
    for start in range(0, len(claimed), 100):
        await worker.end(*claimed[start : start + 100])


async def test_far_from_the_last_parent_ends_are_noted(world: World) -> None:
    batch, worker, claimed = await gather(world)
    await worker.end(*claimed[:300])
    before = [(await world.job(batch, CHILD))["n_unfinished"], await noted(world, batch)]
    found = await count(world)

    assert before == [N, 300]
    assert found >= 1
    assert (await world.job(batch, CHILD))["n_unfinished"] == N - 300
    await worker.end(*claimed[300:])


async def test_last_parent_opens_its_child_at_once(world: World) -> None:
    """Without the driver: whoever comes near the end counts what was noted."""
    batch, worker, claimed = await gather(world)
    await end_all(worker, claimed)
    child = await world.job(batch, CHILD)

    assert (child["state"], child["n_unfinished"], await noted(world, batch)) == (1, 0, 0)
    assert await worker.run() == [CHILD]


async def test_child_is_dated_after_the_latest_end_that_was_noted(world: World) -> None:
    """The clock was set back between that end and the others."""
    batch, worker, claimed = await gather(world)
    later = await world.admin.fetchval("SELECT clock_timestamp() + interval '1 hour'")
    await world.call(
        "complete_attempts",
        incarnation_id=worker.id,
        **end_columns([end_report(claimed[0])]),
        at=later,
    )
    await end_all(worker, claimed[1:])
    await worker.claim()

    assert (await world.job(batch, CHILD))["claimed_at"] >= later


async def test_reports_far_from_the_end_do_not_wait_for_each_other(world: World) -> None:
    batch, worker, claimed = await gather(world)
    async with world.transaction("weft_worker") as other:
        await end_on(other, worker.id, claimed[:10])
        async with asyncio.timeout(30):
            await worker.end(*claimed[10:20])

    assert await noted(world, batch) == 20


async def test_note_that_comes_late_is_counted_by_the_driver(world: World) -> None:
    """A report that was far from the end when it began commits after the last one."""
    batch, worker, claimed = await gather(world)
    async with world.transaction("weft_worker") as late:
        await end_on(late, worker.id, claimed[:10])
        await end_all(worker, claimed[10:])
        before = await world.job(batch, CHILD)
    idle = await world.driver.idle_driver(await world.lead())

    assert (before["state"], before["n_unfinished"]) == (0, 10)
    assert idle is False
    assert await count(world) >= 1
    assert await worker.run() == [CHILD]


@pytest.mark.parametrize("always_run", [False, True])
async def test_noted_failure_is_not_forgotten(world: World, always_run: bool) -> None:
    batch, worker, claimed = await gather(world, always_run=[False] * N + [always_run])
    await worker.end(claimed[0], reason=Reason.EXIT)
    await worker.end(*claimed[1:300])
    half = await world.findings()
    await worker.end(*claimed[300:])
    await world.sweep()

    assert half == {}
    assert (await world.states(batch))[-1] == ("r" if always_run else "c")
    await worker.run()


async def test_cancelled_child_of_many_is_left_alone(world: World) -> None:
    batch, worker, claimed = await gather(world)
    await worker.end(*claimed[:100])
    await world.api.cancel_jobs(world.caller, batch, [CHILD])
    await worker.end(*claimed[100:])
    await count(world)

    assert (await world.states(batch))[-1] == "c"
    assert await noted(world, batch) == 0


async def test_staged_child_of_many_earlier_jobs(world: World) -> None:
    """Its parents end between its arrival and the commit."""
    batch, worker, claimed = await world.submit_and_claim(N, limit=N)
    api = world.api
    update = await open_update(world, batch, 1)
    rows = job_rows(1, parents={1: range(-N, 0)})
    await api.add_jobs(world.caller, batch, update.update_id, rows)
    await worker.end(*claimed[:200])
    await api.commit_update(world.caller, batch, update.update_id)
    states = (await world.states(batch))[-1]
    await end_all(worker, claimed[200:])

    assert states == "p"
    assert await worker.run() == [CHILD]


async def end_on(
    connection: asyncpg.Connection,
    incarnation_id: int,
    claimed: list[Claimed],
    reason: Reason | None = None,
) -> None:
    """Report ends on a connection of one's own."""
    reports = [end_report(one, reason) for one in claimed]
    await call_on(
        connection, "complete_attempts", incarnation_id=incarnation_id, **end_columns(reports)
    )


async def ranges(world: World, batch: int) -> list[tuple[int, int]]:
    rows = await world.admin.fetch(
        "SELECT first_job, last_job FROM weft.runnable WHERE batch_id = $1 ORDER BY 1", batch
    )
    return [(row["first_job"], row["last_job"]) for row in rows]


async def listed(world: World, batch: int) -> int:
    n: int = await world.admin.fetchval(
        "SELECT count(*) FROM weft.ready_job WHERE batch_id = $1", batch
    )
    return n


async def scatter(world: World, **columns: Any) -> tuple[int, Worker]:  # noqa: ANN401 (as job_rows)
    """Submit one job and N others that wait for it; end the one."""
    parents = {child: [1] for child in range(2, N + 2)}
    groups = columns.pop("groups", ())
    batch, worker = await world.submit_and_run(
        job_rows(N + 1, parents=parents, **columns), groups=groups
    )
    return batch, worker


async def test_many_children_are_ready_by_range(world: World) -> None:
    batch, worker = await scatter(world)
    await world.fold()  # the range of the update is gone: its only ready job has ended
    before = await ranges(world, batch)
    await world.sweep(1000)

    assert before == []
    found = await ranges(world, batch)
    assert len(found) > 1
    assert [job for first, last in found for job in range(first, last + 1)] == list(
        range(2, N + 2)
    )
    assert await listed(world, batch) == 0
    assert await worker.run(2 * N) == list(range(2, N + 2))
    await world.fold()
    assert await ranges(world, batch) == []


async def test_child_of_a_range_that_is_lost_is_listed(world: World) -> None:
    batch, worker = await scatter(world)
    await world.sweep()
    one, *_ = await worker.claim(1)
    await worker.end(one, reason=Reason.LOST)

    assert await listed(world, batch) == 1
    assert await worker.run(2 * N) == [2, *range(3, N + 2)]


async def test_children_in_a_batch_with_a_cancelled_group_are_listed(world: World) -> None:
    """The sweep has passed them, so it has to be woken for those that are ready now."""
    parents = {child: [1] for child in range(2, N + 2)}
    group = [0] + [1] * 10 + [0] * (N - 10)
    batch, worker = await world.submit_and_run(
        job_rows(N + 1, parents=parents, group=group), groups=tree("a")
    )
    await world.cancel(batch, 1)

    assert await ranges(world, batch) == [(1, N + 1)]
    assert await listed(world, batch) == N - 10
    assert await world.counts(batch) == {"succeeded": 1, "cancelled": 10, "ready": N - 10}
    assert len(await worker.run(2 * N)) == N - 10


async def test_batch_may_be_cancelled_while_children_become_ready(world: World) -> None:
    batch, worker = await scatter(world)
    await world.driver.sweep("settle_children", await world.lead(), limit_jobs=700)
    await world.cancel(batch)

    assert (await world.states(batch)) == "s" + "c" * N
    assert await worker.claim() == []


async def test_range_that_begins_where_another_one_does_is_listed(world: World) -> None:
    """The update's own range begins with the same job, as long as it has something else ready."""
    batch, worker, (one,) = await world.submit_and_claim(1)
    rows = job_rows(N + 1, parents={child: [-1] for child in range(1, N + 1)})
    await world.submit(rows, batch=batch)
    await worker.end(one)
    await world.sweep()

    assert await ranges(world, batch) == [(1, 1), (2, N + 2)]
    assert await listed(world, batch) == N
    assert sorted(await worker.run(2 * N)) == list(range(2, N + 3))


async def test_chain_falls_in_bounded_steps(world: World) -> None:
    """No step takes more than a part of a second, however long the chain is."""
    n = 3000
    batch = await world.submit(job_rows(n, parents={job: [job - 1] for job in range(2, n + 1)}))
    await (await world.worker()).run(reason=Reason.EXIT)
    steps = 0
    while await world.driver.sweep("settle_children", await world.lead(), limit_jobs=5000):
        steps += 1

    assert steps > 1
    assert await world.states(batch) == "f" + "c" * (n - 1)
