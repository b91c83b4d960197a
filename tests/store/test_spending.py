"""Limits of billing projects: what is paused, stopped, cancelled or slowed down, and goes on."""

from datetime import UTC, datetime
from typing import Any

import pytest

from builders import job_rows
from store.barriers import hold, park, release
from store.retries import retry
from store.world import Worker, World
from weft.core.billing.spending import Stage, stage_of
from weft.core.errors import BillingLimitReached, ProjectNotFound, ProjectOpen
from weft.core.states import Reason
from weft.core.why import causes_of_group, causes_of_wait
from weft.ports.store import Claimed, Shape

TICK_S = 5.0
ENOUGH, TOO_LITTLE = 1000.0, 1e-9
"""What a project may cost while something runs: for hours, or not until the next tick."""


async def limit(world: World, cost_max: float | None = None, **more: Any) -> None:  # noqa: ANN401 (limits)
    """Change the limits of the project, and let the driver look."""
    patch = {"cost_max": cost_max, **more}
    await world.api.change_project(world.caller, "default", patch)
    await look(world)


async def look(world: World, *, sweeps_holds: bool = True) -> list[Stage]:
    """Look as the driver does, and do all that follows; return the stages of our project."""
    epoch, stages = await world.lead(), []
    for one in await world.driver.limit_rounds(epoch):
        if one.tenant == world.pool:
            stages.append(stage_of(one.spending, is_new=one.is_new, lookahead_s=TICK_S))
            if stages[-1] is not one.spending.stage or one.is_new:
                assert await world.driver.judge_limit(epoch, one, stages[-1], near=False)
    for sweep in ("apply_limits", "weigh_users"):
        while await world.driver.sweep(sweep, epoch, limit_jobs=2):
            pass
    if sweeps_holds:
        await park(world)
    return stages


async def project(world: World) -> dict[str, Any]:
    return dict((await world.api.list_projects(world.caller, "default"))[0])


async def stop(worker: Worker, *claimed: Claimed) -> None:
    """Stop what has to be stopped, as an agent does."""
    to_stop = (await worker.beat(*claimed)).to_stop
    assert sorted(to_stop) == sorted((one.batch_id, one.job_id, one.attempt) for one in claimed)
    await worker.end(*claimed, reason=Reason.CANCELLED, start_age_us=None)


async def test_paused_project_starts_nothing_until_its_limit_is_raised(world: World) -> None:
    """What runs and what is claimed goes back; later batches and jobs wait as well."""
    batch, worker, claimed = await world.submit_and_claim(4, limit=2)
    await worker.start(claimed[0])
    await limit(world, TOO_LITTLE)
    assert (await project(world))["limit_state"] == "paused"
    await stop(worker, *claimed)
    await world.submit(2, batch=batch)
    other = await world.submit(job_rows(3, priority=[0, 1, 0]))

    assert await worker.claim() == []
    assert await worker.waits()
    await park(world)
    assert await worker.waits()
    assert [await world.states(one) for one in (batch, other)] == ["r" * 6, "r" * 3]
    assert (await world.attempts(batch))[0]["reason"] == Reason.PREEMPTED
    assert (await world.api.get_batch(world.caller, batch))["held"] is False
    assert await world.findings() == {}

    await limit(world, ENOUGH)
    assert not await worker.waits()
    assert len(await worker.claim()) == 9
    assert (await project(world))["limit_state"] == "below"
    history = await world.api.group_history(world.caller, batch, 0, before=None, limit=9)
    assert [one["kind"] for one in history] == ["resumed", "paused"]


async def test_project_that_goes_on_is_paused_again(world: World, worker: Worker) -> None:
    """Also before its jobs are offered: the hold of its batch that was released counts anew."""
    batch = await world.submit(2)
    await limit(world, 0)
    await world.api.change_project(world.caller, "default", {"cost_max": ENOUGH})
    await look(world, sweeps_holds=False)
    await limit(world, 0)

    assert await worker.claim() == []
    assert await world.states(batch) == "rr"
    history = await world.api.group_history(world.caller, batch, 0, before=None, limit=9)
    assert [one["kind"] for one in history] == ["paused", "resumed", "paused"]


async def test_projects_without_a_limit_go_on(world: World) -> None:
    await world.api.create_project(world.caller, "rich", cost_max=None)
    await limit(world, 0)
    poor, rich = await world.submit(), await world.submit(billing_project="rich")
    worker, claimed = await world.claim()
    assert [one.batch_id for one in claimed] == [rich]
    assert await look(world) == [Stage.REACHED]
    assert (await worker.beat(*claimed)).to_stop == []
    assert [await world.states(one) for one in (poor, rich)] == ["r", "R"]


async def test_a_little_that_is_left_starts_nothing(world: World) -> None:
    """The driver looks ahead, so something is left when nothing runs any more."""
    _, worker, (one,) = await world.submit_and_start(1)
    await limit(world, 1e-5)
    await stop(worker, one)
    await world.fold()

    assert await look(world) == [Stage.REACHED]
    assert (await project(world))["cost"] < 1e-5
    assert await worker.claim() == []
    await limit(world, 1e-5)
    assert len(await worker.claim()) == 1


async def test_pauses_are_no_losses(own_world: World) -> None:
    """However often a job is stopped; what was lost counts as before."""
    batch, worker = await own_world.submit_to_worker()
    for _ in range(8):
        (one,) = await worker.claim_and_start()
        await limit(own_world, TOO_LITTLE)
        await worker.end(one, reason=Reason.CANCELLED, start_age_us=1000)
        await limit(own_world, ENOUGH)

    assert await own_world.states(batch) == "r"
    assert (await own_world.job(batch))["n_lost"] == 1
    for _ in range(5):
        (one,) = await worker.claim()
        await worker.end(one, reason=Reason.LOST, start_age_us=1000)
    assert await own_world.states(batch) == "e"


@pytest.mark.parametrize("first", ["person", "limit"])
async def test_holds_of_persons_and_limits_are_apart(world: World, first: str) -> None:
    batch, worker = await world.submit_to_worker(job_rows(3, priority=[0, 1, 0]))
    await hold(world, batch)
    await limit(world, 0)
    await park(world)
    if first == "person":
        await release(world, batch)
    else:
        await limit(world, ENOUGH)
    await park(world)
    assert await worker.claim() == []
    ranges = "SELECT gate_set_id FROM weft.runnable WHERE batch_id = $1"
    assert {row[0] for row in await world.admin.fetch(ranges, batch)} == {1}
    assert (await world.api.get_batch(world.caller, batch))["held"] is (first == "limit")
    if first == "person":
        await limit(world, None)
    else:
        await release(world, batch)
    await park(world)

    assert len(await worker.claim()) == 3


async def test_limit_may_cancel(world: World) -> None:
    """Then the project takes no jobs; what was cancelled stays so."""
    running, waiting = await world.submit(1), await world.submit(2)
    worker, (one,) = await world.claim_and_start(1)
    await limit(world, TOO_LITTLE, on_limit="cancel")
    await stop(worker, one)
    await world.sweep()
    with pytest.raises(BillingLimitReached):
        await world.submit()
    await limit(world, ENOUGH)

    assert [await world.states(each) for each in (running, waiting)] == ["c", "cc"]
    assert await world.states(await world.submit()) == "r"


async def test_only_the_first_jobs_of_a_batch_can_name_another_project(world: World) -> None:
    batch, worker, (one,) = await world.submit_and_claim(1, limit=1)
    await worker.end(one, reason=Reason.EXIT, exit_code=3)
    await world.fold()
    await limit(world, 0, on_limit="cancel")
    with pytest.raises(BillingLimitReached) as new:
        await world.submit()
    with pytest.raises(BillingLimitReached) as more:
        await world.submit(batch=batch)
    with pytest.raises(BillingLimitReached) as again:
        await retry(world, batch)

    hints = [str(refused.value.hint) for refused in (new, more, again)]
    assert [hint.split(",")[0] for hint in hints] == [
        "Name another project",
        *["Ask an administrator to raise the limit. `weft limit ls` shows it."] * 2,
    ]


async def test_pause_may_become_a_cancel(world: World) -> None:
    batch = await world.submit(job_rows(3, priority=[0, 1, 0]))
    await limit(world, 0)
    await limit(world, 0, on_limit="cancel")
    await world.sweep()
    await park(world)

    assert await world.states(batch) == "ccc"
    holds = "SELECT count(*) FROM weft.group_hold WHERE batch_id = $1"
    assert await world.admin.fetchval(holds, batch) == 0


async def test_retried_jobs_of_a_paused_project_wait(world: World) -> None:
    batch, worker = await world.submit_and_run(3, reason=Reason.EXIT)
    await world.fold()
    await limit(world, 0)
    assert await retry(world, batch) == 3

    assert await worker.claim() == []
    await look(world)
    assert await worker.waits()


async def test_batch_that_is_being_committed_is_paused(world: World) -> None:
    """Whoever reaches the limit waits for it and finds it open."""
    await limit(world, ENOUGH)
    batch = await world.submit()
    epoch = await world.lead()
    (one,) = [each for each in await world.driver.limit_rounds(epoch) if each.tenant == world.pool]
    other = await world.connect()
    committing = other.transaction()
    await committing.start()
    await other.execute("SELECT weft._pause_batch($1, true)", batch)
    judging = await world.start_waiting(
        world.driver.judge_limit(epoch, one, Stage.REACHED, near=False)
    )
    assert not judging.done()
    await committing.commit()

    assert await judging
    await limit(world, None)


async def test_next_driver_goes_on_with_a_pause(own_world: World) -> None:
    """The one before died between the holds and the stops, or before both."""
    batch, worker, claimed = await own_world.submit_and_start(2)
    await own_world.api.change_project(own_world.caller, "default", {"cost_max": TOO_LITTLE})
    epoch = await own_world.lead()
    (one,) = await own_world.driver.limit_rounds(epoch)
    assert await own_world.driver.judge_limit(epoch, one, Stage.REACHED, near=False)
    assert await own_world.driver.sweep("apply_limits", epoch, limit_jobs=10) == 1
    assert (await worker.beat(*claimed)).to_stop == []
    await own_world.backend.begin_term()

    assert await look(own_world) == [Stage.REACHED]
    await stop(worker, *claimed)
    assert await own_world.states(batch) == "rr"


async def test_limit_that_changes_meanwhile_is_decided_again(world: World) -> None:
    await limit(world, ENOUGH)
    epoch = await world.lead()
    (one,) = [each for each in await world.driver.limit_rounds(epoch) if each.tenant == world.pool]
    await world.api.change_project(world.caller, "default", {"cost_max": ENOUGH + 1})

    assert not await world.driver.judge_limit(epoch, one, Stage.REACHED, near=False)
    assert await look(world) == [Stage.BELOW]


async def test_soft_limit_halves_the_weight_of_its_jobs(world: World, worker: Worker) -> None:
    """Of a user who has others as well, in proportion."""
    bob = await world.user("bob")
    await world.api.create_project(world.caller, "other", cost_max=None)
    await world.api.set_project_member(world.caller, "other", "bob", is_member=True)
    await world.submit(job_rows(3, shapes=[Shape(cpu_m=1000)]))
    await world.submit(1, caller=bob)
    await world.submit(
        job_rows(3, shapes=[Shape(cpu_m=1000)]), caller=bob, billing_project="other"
    )
    await worker.claim(1)
    await world.fold()
    weights = (
        "SELECT u.name, s.weight, abs(s.load * s.weight - s.running_m) < 1 AS agrees "
        "FROM weft.user_share s "
        "JOIN weft.tenant_user u USING (user_id) WHERE s.tenant_id = $1 ORDER BY 1"
    )

    async def weighed() -> dict[str, float]:
        rows = await world.admin.fetch(weights, world.caller.tenant_id)
        assert all(row["agrees"] for row in rows)
        return {row["name"]: row["weight"] for row in rows}

    await limit(world, None, cost_soft_max=0)
    assert (await project(world))["limit_state"] == "slowed"
    assert await weighed() == {"ada": 0.5, "bob": 0.875}  # a quarter of what bob asks for
    await limit(world, None, cost_soft_max=None)
    assert await weighed() == {"ada": 1, "bob": 1}


async def test_users_without_work_keep_their_weight(world: World, worker: Worker) -> None:
    """Whoever has nothing there has nothing that is slowed; nor does a new driver slow them."""
    bob = await world.user("bob")
    done = await world.submit(1, caller=bob)
    await worker.end(*await worker.claim())
    assert await world.states(done) == "s"
    await world.submit(1)
    await world.fold()
    weights = "SELECT user_id, weight FROM weft.user_share WHERE tenant_id = $1"

    async def weighed() -> dict[int, float]:
        rows = await world.admin.fetch(weights, world.caller.tenant_id)
        return {row["user_id"]: row["weight"] for row in rows}

    await look(world)
    assert await weighed() == {world.caller.user_id: 1, bob.user_id: 1}
    await limit(world, None, cost_soft_max=0)
    assert await weighed() == {world.caller.user_id: 0.5, bob.user_id: 1}
    await limit(world, None, cost_soft_max=None)
    assert await weighed() == {world.caller.user_id: 1, bob.user_id: 1}


async def test_project_says_when_it_reaches_its_limit(world: World, worker: Worker) -> None:
    """As long as something runs."""
    await world.submit(job_rows(2, shapes=[Shape(cpu_m=1000, memory_mib=1024)]))
    await limit(world, ENOUGH)
    assert (await project(world))["limit_in_s"] is None
    claimed = await worker.claim_and_start()
    found = await project(world)

    assert found["cost_per_hour"] == pytest.approx(2 * (0.01 + 0.001))
    assert found["limit_in_s"] == pytest.approx(ENOUGH / found["cost_per_hour"] * 3600, rel=1e-3)
    assert found["limit_state"] == "below"
    await worker.end(*claimed)


async def test_project_without_a_hard_limit_reaches_none(world: World, worker: Worker) -> None:
    """Though something runs beyond its soft limit."""
    await world.submit()
    await limit(world, None, cost_soft_max=0)
    (one,) = await worker.claim_and_start()
    found = await project(world)

    assert found["cost_per_hour"] > 0
    assert found["limit_in_s"] is None
    await worker.end(one)


async def test_driver_is_done_with_a_limit_that_was_taken_away(own_world: World) -> None:
    """It does not look again at each heartbeat."""
    for cost_max in (None, ENOUGH, None):
        await limit(own_world, cost_max)
        due = await own_world.admin.fetch("SELECT loop FROM weft._loops_due(1, '{}', 2)")
        assert "spending" not in {row["loop"] for row in due}


async def test_paused_project_is_not_deleted_with_what_waits(world: World) -> None:
    await world.api.create_project(world.caller, "lab", cost_max=0)
    await look(world)
    batch = await world.submit(billing_project="lab")
    await world.api.change_project(world.caller, "lab", {"closed": True})
    with pytest.raises(ProjectOpen, match="is paused at its limit"):
        await world.api.delete_project(world.caller, "lab")
    await world.cancel(batch)
    await world.fold()

    await world.api.delete_project(world.caller, "lab")


@pytest.mark.parametrize("when", ["it runs", "it is retried"])
async def test_deleted_project_cancels_at_its_limit(world: World, when: str) -> None:
    """Nobody could raise the limit any more, so what came to it would wait for ever."""
    await world.api.create_project(world.caller, "lab", cost_max=ENOUGH)
    batch, worker, (one, other) = await world.submit_and_start(2, billing_project="lab")
    await worker.end(other, reason=Reason.EXIT, exit_code=3)
    await world.api.change_project(world.caller, "lab", {"closed": True})
    await look(world)
    await world.api.delete_project(world.caller, "lab")
    await world.admin.execute(
        "UPDATE weft.spend_limit SET amount_max = 0 WHERE tenant_id = $1", world.caller.tenant_id
    )
    if when == "it is retried":
        await worker.end(one)
        await world.fold()
    await look(world)

    if when == "it runs":
        await world.sweep()
        assert (await world.api.get_batch(world.caller, batch))["cancelled"]
    else:
        with pytest.raises(ProjectNotFound):
            await retry(world, batch)


async def test_why_names_the_limit(world: World) -> None:
    batch = await world.submit(2)
    await limit(world, 0)
    (job, _) = await world.api.why_jobs(world.caller, batch, [1, 2])
    group = await world.api.why_group(world.caller, batch, 0)

    now = datetime.now(UTC)
    for causes in (causes_of_wait(job, {}, now), causes_of_group(group, {}, now)):
        assert causes[0].kind == "limit"
        assert causes[0].text.endswith("project default is paused at its limit of 0")
        assert causes[0].command == "weft billing project limit default AMOUNT"


async def test_audit_allows_what_was_claimed_before_a_pause_to_start(own_world: World) -> None:
    """Until its worker hears of the pause."""
    batch = await own_world.submit()
    worker, (one,) = await own_world.claim()
    await limit(own_world, TOO_LITTLE)
    late = (
        "UPDATE weft.job SET started_at = clock_timestamp() + interval '9 s' WHERE batch_id = $1"
    )
    await own_world.admin.execute(late, batch)

    assert await own_world.findings() == {}
    await stop(worker, one)


@pytest.mark.parametrize("later", ["pause", "cancel"])
async def test_audit_waits_for_the_driver_to_judge_a_change(own_world: World, later: str) -> None:
    """Where it says whether batches are paused or cancelled."""
    world, now = own_world, "cancel" if later == "pause" else "pause"
    await world.submit(1)
    await limit(world, 0, on_limit=now)
    if now == "cancel":
        await world.sweep()
    await world.admin.execute(
        "UPDATE weft.spend_limit SET applied_at = applied_at - interval '10 s'"
    )
    await world.api.change_project(world.caller, "default", {"on_limit": later})
    assert await world.findings() == {}
    await limit(world, None)


async def test_audit_finds_what_starts_in_a_paused_project(own_world: World) -> None:
    batch, worker, claimed = await own_world.submit_and_start(2, limit=1)
    await limit(own_world, TOO_LITTLE)
    early = (
        "UPDATE weft.spend_limit SET applied_at = applied_at - interval '10 s';"
        "UPDATE weft.group_hold SET held_at = held_at - interval '10 s'"
    )
    assert {*await own_world.findings_after(early)} == {
        "claims_respect_holds",
        "limits_agree_with_holds",
        "paused_projects_start_nothing",
    }
    below = "UPDATE weft.spend_limit SET stage = 'below'"
    assert {*await own_world.findings_after(below)} == {"limits_agree_with_holds"}
    await stop(worker, *claimed)
    assert await own_world.states(batch) == "rr"
