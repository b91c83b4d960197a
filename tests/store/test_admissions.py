"""Limits that are near their end: nothing starts but what fits below them."""

import asyncio
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from builders import job_rows
from store.barriers import TREE, hold, park, parked, release
from store.retries import retry
from store.test_spending import project
from store.test_waiting import ear
from store.world import Worker, World
from weft.core.billing.spending import ROOM_TICKS, Measure, Stage, is_near, room_per_hour, stage_of
from weft.core.states import Reason
from weft.core.why import causes_of_wait
from weft.ports.store import Shape
from weft.ports.store.queries import Admitted, Limit, Limited

TICK_S = 3600.0 / ROOM_TICKS
"""As many cores fit as core hours are left."""
OURS = Limited("project", name="default")
SMALL, LARGE = Shape(), Shape(cpu_m=4000)


async def look(world: World) -> dict[int, Admitted]:
    """Look twice as the driver does: what is near at the first look admits at the second one."""
    epoch, found = await world.lead(), list[Admitted]()
    for _ in range(2):
        limits = [
            one for one in await world.driver.limit_rounds(epoch) if one.tenant == world.pool
        ]
        near = [one for one in limits if await judge(world, epoch, one)]
        await apply(world, epoch)
        rooms = {
            one.limit_id: room_per_hour(one.spending, lookahead_s=TICK_S)
            for one in near
            if one.spending.near
        }
        found = list(await world.driver.admit_at_limits(epoch, rooms, limit_jobs=100))
    return {one.limit_id: one for one in found}


async def judge(world: World, epoch: int, one: Limit) -> bool:
    stage = stage_of(one.spending, is_new=one.is_new, lookahead_s=TICK_S)
    near = is_near(one.spending, is_new=one.is_new, lookahead_s=TICK_S)
    near = near and stage is not Stage.REACHED
    if (stage, near) != (one.spending.stage, one.spending.near) or one.is_new:
        assert await world.driver.judge_limit(epoch, one, stage, near=near)
    return near


async def apply(world: World, epoch: int) -> None:
    while await world.driver.sweep("apply_limits", epoch, limit_jobs=2):
        pass
    await park(world)


async def limit(
    world: World,
    amount_max: float | None,
    of: Limited = OURS,
    **more: Any,  # noqa: ANN401 (limits)
) -> dict[int, Admitted]:
    """Set a limit in core hours, and look."""
    patch = {"amount_max": amount_max, **more}
    await world.api.set_limit(world.caller, of, Measure.CPU, patch)
    return await look(world)


async def claimed_by(worker: Worker) -> list[int]:
    return sorted(one.job_id for one in await worker.claim())


@pytest.mark.heavy
async def test_only_what_fits_below_a_limit_may_start(world: World, worker: Worker) -> None:
    """Of eight jobs of a core each three, and the next one when one of them has ended."""
    batch = await world.submit(8)
    (found,) = (await limit(world, 3.5)).values()
    assert (found.n_admitted, found.is_short) == (3, True)

    claimed = await worker.claim()
    assert [one.job_id for one in claimed] == [1, 2, 3]
    assert await worker.claim() == []
    await worker.start(*claimed)
    await look(world)
    assert await worker.claim() == []
    await worker.end(claimed[0])
    await world.fold()
    await look(world)
    assert [one.job_id for one in await worker.claim()] == [4]
    assert await world.states(batch) == "sRRRrrrr"


async def test_what_is_admitted_and_not_claimed_counts(world: World, worker: Worker) -> None:
    await world.submit(8)
    await limit(world, 3.5)
    await look(world)

    assert await claimed_by(worker) == [1, 2, 3]


async def test_lowered_limit_holds_for_what_was_admitted(world: World, worker: Worker) -> None:
    await world.submit(4)
    await limit(world, 3.5)
    await limit(world, 1.5)

    assert len(await worker.claim()) == 1


async def test_far_from_its_limit_a_project_starts_all(world: World, worker: Worker) -> None:
    """No hold is made; and it is far again when the limit is raised."""
    await world.submit(8)
    await limit(world, 1e9)
    holds = "SELECT count(*) FROM weft.group_hold WHERE tenant_id = $1"
    assert await world.admin.fetchval(holds, world.caller.tenant_id) == 0
    await limit(world, 3.5)
    await limit(world, 1e9)

    assert len(await worker.claim()) == 8
    assert await world.admin.fetchval(holds, world.caller.tenant_id) == 0
    kept = "SELECT count(*) FROM weft.admission WHERE tenant_id = $1"
    assert await world.admin.fetchval(kept, world.caller.tenant_id) == 0


async def test_new_batches_children_and_retries_wait_to_be_admitted(world: World) -> None:
    worker = await world.worker()
    await world.submit(1)
    failed = await world.submit(1)
    (first, second) = await worker.claim()
    await worker.end(first)
    await worker.end(second, reason=Reason.EXIT)
    await world.fold()
    await limit(world, 1.5)
    assert await retry(world, failed) == 1
    parent = await world.submit(job_rows(2, parents={2: [1]}))
    assert await worker.claim() == []

    for expected in ((failed, 1), (parent, 1), (parent, 2)):
        await look(world)
        (one,) = await worker.claim()
        assert (one.batch_id, one.job_id) == expected
        await worker.end(one)
        await world.fold()


async def test_lost_attempt_needs_another_admission(world: World, worker: Worker) -> None:
    await world.submit(1)
    await limit(world, 1.5)
    (one,) = await worker.claim()
    await worker.end(one, reason=Reason.LOST, start_age_us=None)
    assert await worker.claim() == []
    await look(world)

    (again,) = await worker.claim()
    assert again.attempt == one.attempt + 1


async def test_priority_comes_first(world: World, worker: Worker) -> None:
    """Also that of a later batch; a job that does not fit lets others pass."""
    await world.submit(job_rows(3, shapes=[SMALL, LARGE], shape_index=[1, 0, 0]))
    late = await world.submit(job_rows(2, priority=[0, 7]))
    await limit(world, 2.5)

    found = [(one.batch_id == late, one.job_id) for one in await worker.claim()]
    assert found == [(True, 2), (False, 2)]


async def test_range_of_a_million_jobs_stays_one_row(world: World, worker: Worker) -> None:
    """But for those that are admitted."""
    batch = await world.submit(5000)
    await limit(world, 2.5)
    ranges = "SELECT count(*) FROM weft.runnable WHERE batch_id = $1 AND gate_set_id = 1"
    listed = "SELECT count(*) FROM weft.ready_job WHERE batch_id = $1"

    assert await world.admin.fetchval(ranges, batch) == 1
    assert await world.admin.fetchval(listed, batch) == 2
    assert await claimed_by(worker) == [1, 2]


@pytest.mark.parametrize("group", [1, 2])
async def test_limit_of_a_group_lets_the_others_go_on(world: World, group: int) -> None:
    batch, worker = await world.submit_to_worker(job_rows(9, group=[0, 1, 2] * 3), groups=TREE)
    await limit(world, 1.5, Limited("group", batch_id=batch, group=group))
    below = {1: {1, 2}, 2: {2}}[group]
    found = [one % 3 or 3 for one in await claimed_by(worker)]

    assert sum(one - 1 in below for one in found) == 1
    assert sum(one - 1 not in below for one in found) == 3 * (3 - len(below))


async def test_job_must_fit_below_each_of_its_limits(world: World, worker: Worker) -> None:
    """One of the user admits three, one of the batch two of them."""
    batch, other = await world.submit(4), await world.submit(4)
    await world.api.set_limit(
        world.caller, Limited("user", world.caller.user_name), Measure.CPU, {"amount_max": 3.5}
    )
    await limit(world, 2.5, Limited("group", batch_id=batch))

    found = [(one.batch_id == other, one.job_id) for one in await worker.claim()]
    assert sorted(found) == [(False, 1), (False, 2), (True, 1)]


@pytest.mark.parametrize("group", [True, False])
async def test_hold_of_a_person_is_stronger(world: World, worker: Worker, *, group: bool) -> None:
    """What was admitted before it keeps waiting, and takes no room once nobody claims it."""
    batch, other = await world.submit(2), await world.submit(2)
    await limit(world, 1.5)
    if group:
        await hold(world, batch)
    else:
        await world.api.hold_jobs(world.caller, batch, [1, 2])
    await park(world)
    assert await worker.claim() == []
    await wait_in_vain(world)
    await look(world)
    (one,) = await worker.claim()
    assert (one.batch_id, one.job_id) == (other, 1)
    await worker.end(one)
    await world.fold()
    if group:
        await release(world, batch)
    else:
        await world.api.release_jobs(world.caller, batch, [1, 2])
    await park(world)
    await look(world)

    (one,) = await worker.claim()
    assert one.batch_id in {batch, other}


async def wait_in_vain(world: World) -> None:
    """Let the admissions be older than patience, and those that nobody claims be taken back."""
    await world.admin.execute(
        "UPDATE weft.admission SET admitted_at = admitted_at - interval '1 minute' "
        "WHERE tenant_id = $1 AND open",
        world.caller.tenant_id,
    )
    await look(world)


async def test_what_nobody_claims_makes_room(world: World) -> None:
    """Here no worker holds the large one."""
    await world.submit(job_rows(3, shapes=[SMALL, LARGE], shape_index=[1, 0, 0]))
    worker = await world.worker(cpu_m=2000)
    await limit(world, 4.5)
    assert await worker.claim() == []
    await wait_in_vain(world)
    await look(world)

    assert await claimed_by(worker) == [2, 3]


async def test_limit_is_reached_from_near(world: World, worker: Worker) -> None:
    """Then what was admitted does not start, and the history tells of one pause."""
    batch = await world.submit(4)
    await limit(world, 2.5)
    claimed = await worker.claim_and_start(1)
    assert await world.api.group_history(world.caller, batch, 0, before=None, limit=9) == []
    await limit(world, 0)
    assert await worker.claim() == []
    await park(world)
    assert await parked(world, batch) == [2]
    assert (await worker.beat(*claimed)).to_stop
    await worker.end(*claimed, reason=Reason.CANCELLED)
    assert await world.findings() == {}
    await limit(world, 2.5)
    assert len(await worker.claim()) == 2

    history = await world.api.group_history(world.caller, batch, 0, before=None, limit=9)
    assert [one["kind"] for one in history] == ["resumed", "paused"]


async def test_limit_that_cancels_cancels_from_near(world: World, worker: Worker) -> None:
    batch = await world.submit(4)
    await limit(world, 2.5, on_limit="cancel")
    assert await claimed_by(worker) == [1, 2]
    await limit(world, 0, on_limit="cancel")
    await world.sweep()
    await park(world)

    assert await world.states(batch) == "RRcc"


async def test_cancelled_jobs_take_no_room(world: World, worker: Worker) -> None:
    batch = await world.submit(4)
    await limit(world, 2.5)
    await world.api.cancel_jobs(world.caller, batch, [1, 3])
    await look(world)

    assert await claimed_by(worker) == [2, 4]


async def test_always_run_job_of_a_cancelled_batch_is_admitted(world: World) -> None:
    batch, worker = await world.submit_to_worker(job_rows(2, always_run=[False, True]))
    await limit(world, 1.5)
    await world.cancel(batch)
    await look(world)

    assert await claimed_by(worker) == [2]


async def test_admitted_job_waits_for_its_gates(world: World, worker: Worker) -> None:
    batch = await world.submit(4, max_running=1)
    await limit(world, 3.5)
    await world.call("pass_gates", epoch=await world.lead(), limit_jobs=100)
    (one,) = await worker.claim()
    await worker.end(one)
    await world.fold()
    await look(world)
    await world.call("pass_gates", epoch=await world.lead(), limit_jobs=100)

    assert len(await worker.claim()) == 1
    assert (await world.counts(batch))["running"] == 1


async def test_why_names_the_limit(world: World) -> None:
    batch = await world.submit(2)
    await world.worker()
    await limit(world, 1.5)
    (job,) = await world.api.why_jobs(world.caller, batch, [2])
    (cause, *_) = causes_of_wait(job, {}, datetime.now(UTC))

    assert cause.text.startswith("waits for room below the limit of 1.5 core hours")
    (found,) = await world.api.list_limits(world.caller, None, after=0, limit=9)
    assert found["limit_state"] == "near"
    (admitted,) = await world.api.why_jobs(world.caller, batch, [1])
    assert "limit" not in {one.kind for one in causes_of_wait(admitted, {}, datetime.now(UTC))}


@pytest.mark.heavy
async def test_claim_beside_an_admission_that_is_taken_back(world: World, worker: Worker) -> None:
    """Either the worker has the job, or it waits; never both."""
    batch = await world.submit(1)
    for _ in range(10):
        await limit(world, 1.5)
        await world.admin.execute(
            "UPDATE weft.admission SET admitted_at = $1 WHERE batch_id = $2",
            datetime.now(UTC) - timedelta(minutes=1),
            batch,
        )
        epoch = await world.lead()
        (one,) = [x for x in await world.driver.limit_rounds(epoch) if x.tenant == world.pool]
        claimed, _ = await asyncio.gather(
            worker.claim(),
            world.driver.admit_at_limits(epoch, {one.limit_id: Decimal(0)}, limit_jobs=9),
        )
        assert await world.states(batch) == ("R" if claimed else "r")
        assert await world.findings() == {}
        await worker.end(*claimed, reason=Reason.LOST, start_age_us=None)
        await limit(world, None)


async def test_limit_is_not_at_its_end_while_a_batch_is_locked(world: World) -> None:
    """Such as by somebody who holds a group of it: its jobs fit, and start a little later."""
    batch, worker = await world.submit_to_worker(6)
    await limit(world, 2.5)
    await worker.end(*await worker.claim())
    await world.fold()
    async with world.transaction() as other:
        await other.execute("SELECT pg_advisory_xact_lock($1)", batch)
        (found,) = (await look(world)).values()
        assert await worker.claim() == []
    assert (found.n_admitted, found.is_short) == (2, True)
    await look(world)

    assert await claimed_by(worker) == [3, 4]


@pytest.mark.parametrize("what", ["batch", "group", "jobs"])
async def test_release_by_a_person_wakes_the_driver(world: World, what: str) -> None:
    """Nothing else may happen: without admissions the jobs would wait for ever."""
    batch = await world.submit(job_rows(2, group=[1, 1]), groups=TREE)
    await world.worker()
    if what == "jobs":
        await world.api.hold_jobs(world.caller, batch, [1, 2])
    else:
        await hold(world, batch, 0 if what == "batch" else 1)
    await limit(world, 1.5)
    listener = await ear(world, "driver")
    if what == "jobs":
        await world.api.release_jobs(world.caller, batch, [1, 2])
    else:
        await release(world, batch, 0 if what == "batch" else 1)

    await listener.until("spending")


async def test_batches_that_wait_for_something_else_let_others_pass(world: World) -> None:
    """However many somebody holds, or a limit at its end."""
    for _ in range(101):
        await hold(world, await world.submit(1))
    late, worker = await world.submit_to_worker(1)
    await limit(world, 1.5)

    assert [one.batch_id for one in await worker.claim()] == [late]


async def test_admissions_of_what_has_started_are_closed(world: World, worker: Worker) -> None:
    """Also if all that waits fits: who looks would read ever more of them."""
    await world.submit(2)
    await limit(world, 5.5)
    await worker.end(*await worker.claim())
    await world.fold()
    await look(world)
    still = "SELECT count(*) FROM weft.admission WHERE tenant_id = $1 AND open"

    assert await world.admin.fetchval(still, world.caller.tenant_id) == 0


@pytest.mark.heavy
async def test_closed_project_is_deleted_near_its_limit(world: World, worker: Worker) -> None:
    """It is not paused: what fits goes on, and what does not is cancelled in the end."""
    await world.api.create_project(world.caller, "lab", cost_max=None)
    batch = await world.submit(2, billing_project="lab")
    await limit(world, 1.5, Limited("project", name="lab"))
    await world.api.change_project(world.caller, "lab", {"closed": True})
    await world.api.delete_project(world.caller, "lab")
    await look(world)
    (one,) = await worker.claim()

    assert one.batch_id == batch


N_JOBS = 300
FEW = 20


async def test_jobs_that_do_not_fit_below_the_limit_do_not_start(world: World) -> None:
    """All of them would be below it now, but not until the next tick."""
    await world.submit()
    worker = await world.worker(cpu_m=1000 * N_JOBS, memory_mib=1024 * N_JOBS)
    (one,) = await worker.claim_and_start()
    patch = {"amount_max": FEW + 0.5}
    await world.api.set_limit(world.caller, OURS, Measure.CPU, patch)
    await look(world)
    batch = await world.submit(N_JOBS)
    started = await worker.claim(N_JOBS)
    await look(world)
    started += await worker.claim(N_JOBS)
    later = await world.submit(N_JOBS)
    await look(world)
    started += await worker.claim(N_JOBS)

    assert len(started) == FEW - 1
    assert (await project(world))["limit_state"] == "below"  # that in money
    await worker.start(*started)
    epoch = await world.lead()
    found = [x for x in await world.driver.limit_rounds(epoch) if x.tenant == world.pool]
    assert room_per_hour(found[0].spending, lookahead_s=TICK_S) > 0
    assert found[0].spending.stage is Stage.BELOW
    assert {state for one in (batch, later) for state in await world.states(one)} == {"R", "r"}
    await worker.end(one, *started)
