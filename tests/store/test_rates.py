"""Rates: how many jobs of a tenant with one key start in a period."""

import asyncio

import msgspec
import pytest

from builders import job_rows, with_fields
from store.barriers import set_quota, visit
from store.test_first_core_quotas import sweep
from store.test_reservations import LARGE, SMALL, look
from store.world import World
from weft.ports.store import UNKEYED, JobRows
from weft.sql import text_of
from weft.submission.translation.gates import JOB_GATES
from weft.wire.keys import Rate


def rows_with(rate: Rate, n_jobs: int) -> JobRows:
    """Return jobs with this rate."""
    gates = msgspec.to_builtins([JOB_GATES["rate"].gate(rate)])
    return with_fields(
        job_rows(n_jobs), **{f"j{j}": {"gates": gates} for j in range(1, n_jobs + 1)}
    )


async def test_places_do_not_come_back_at_ends(world: World) -> None:
    _, worker, first = await world.submit_and_claim(rows_with(Rate("api", 2, 60), 6))
    await worker.end(first[0])
    await visit(world, in_s=59)

    assert len(first) == 2
    assert await worker.claim() == []


async def test_driver_is_told_the_next_date_only_while_starts_count(world: World) -> None:
    due = "SELECT extract(epoch FROM weft._gates_due())"
    before = await world.admin.fetchval("SELECT count(*) FROM weft.gate_return")
    await world.submit(rows_with(Rate("told", 1, 30), 1))
    worker = await world.worker()
    await worker.claim()
    due_s = await world.admin.fetchval(due)
    await visit(world, in_s=31)

    assert 0 < due_s <= 30
    assert await world.admin.fetchval("SELECT count(*) FROM weft.gate_return") <= before


async def test_start_of_a_job_that_was_never_claimed_is_not_counted(world: World) -> None:
    batch = await world.submit(rows_with(Rate("cancelled", 1, 60), 1))
    await world.cancel(batch)
    await visit(world)
    await world.submit(rows_with(Rate("cancelled", 1, 60), 1))
    await visit(world)

    assert len(await (await world.worker()).claim()) == 1


@pytest.mark.slow
async def test_no_window_has_more_starts_under_concurrent_claims(world: World) -> None:
    """Jobs end at once, so only dates hold the next ones back; the audit finds none too early."""
    n, per_s, n_jobs = 3, 0.2, 15
    await world.submit(rows_with(Rate("window", n, per_s), n_jobs))
    workers = [await world.worker(name) for name in ("w", "v")]
    left = n_jobs
    async with asyncio.timeout(30):
        while left:
            for worker, claimed in zip(
                workers, await asyncio.gather(*(one.claim() for one in workers)), strict=True
            ):
                await worker.end(*claimed)
                left -= len(claimed)
            await visit(world)
    starts = [
        row["claimed_at"]
        for row in await world.admin.fetch(
            "SELECT a.claimed_at FROM weft.attempt a JOIN weft.job j USING (batch_id, job_id) "
            "JOIN weft.gate_member m ON m.gate_set_id = j.gate_set_id "
            "JOIN weft.gate g ON g.gate_id = m.gate_id WHERE g.key = $1 ORDER BY 1",
            f"t{world.caller.tenant_id}/window/200ms",
        )
    ]

    assert len(starts) == n_jobs
    assert all(
        (late - early).total_seconds() >= per_s
        for early, late in zip(starts, starts[n:], strict=False)
    )
    audit = text_of("audit", "rates_hold_at_all_times")
    assert await world.admin.fetch(audit) == []
    await world.admin.execute(
        "UPDATE weft.gate SET key = replace(key, '/200ms', '/9000ms') WHERE key = $1",
        f"t{world.caller.tenant_id}/window/200ms",
    )
    assert len(await world.admin.fetch(audit)) > 0
    await world.admin.execute(
        "UPDATE weft.gate SET key = replace(key, '/9000ms', '/200ms') WHERE key = $1",
        f"t{world.caller.tenant_id}/window/9000ms",
    )


async def test_running_job_gets_no_second_start_from_a_first_quota_of_cores(world: World) -> None:
    """What was counted stays counted once; the rate's next place comes back by its date."""
    await world.submit(rows_with(Rate("cores", 2, 60), 2))
    worker = await world.worker()
    await worker.claim(1)
    await set_quota(world, "ada", cores=8)
    await sweep(world)

    assert [one.job_id for one in await worker.claim()] == [2]


async def test_job_that_a_worker_is_kept_for_counts_as_a_start(world: World) -> None:
    rows = rows_with(Rate("kept", 1, 60), 2)
    rows.shapes = [LARGE]
    await world.submit(job_rows(4, shapes=[SMALL], priority=1))
    worker = await world.worker(cpu_m=4000)
    running = await worker.claim()
    await world.submit(rows)
    assert await look(world, worker)
    await worker.end(*running)
    kept = await worker.claim_kept()
    await worker.end(*kept)
    await visit(world, in_s=59)

    assert [one.cpu_m for one in kept] == [LARGE.cpu_m]
    assert await worker.claim() == []


async def test_copy_of_a_batch_has_its_rate(world: World) -> None:
    gates = [JOB_GATES["rate"].gate(Rate("copied", 3, 2.5))]
    batch = await world.submit(job_rows(1), gates=gates)
    operation = await world.api.resubmit_batch(
        world.caller, batch, UNKEYED, failed=False, changes={}
    )
    sets = (
        "SELECT count(*), count(DISTINCT b.gate_set_id) FROM weft.batch b "
        "JOIN weft.gate_member m USING (gate_set_id) JOIN weft.gate g USING (gate_id) "
        "WHERE g.key LIKE '%/copied/2500ms'"
    )

    assert operation
    assert tuple(await world.admin.fetchrow(sets)) == (2, 1)
