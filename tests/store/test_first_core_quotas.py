"""A first quota of running cores reaches the jobs that were there before it."""

import random
from typing import Any

import pytest

from builders import end_report, job_rows
from store.barriers import hold_and_park, parked, release, set_of_tenant, set_quota, visit
from store.batch_steps import add, new_batch, open_update
from store.retries import begin, finish
from store.test_core_quotas import Model, asking, cores, ids, why
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Caller, Claimed
from weft.store.database import call_on
from weft.store.end_columns import end_columns
from weft.store.offered_jobs import claimed_of
from weft.store.submission import _bunch

STEPS = 80


async def sweep(world: World, limit: int = 2) -> int:
    """Pass the gates in small steps, with the audit after each; return how many there were."""
    for steps in range(10_000):
        if not await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=limit):
            return steps
        assert await world.findings() == {}
    raise AssertionError


async def is_sweeping(world: World) -> bool:
    return bool(
        await world.admin.fetchval(
            "SELECT EXISTS (SELECT FROM weft.core_sweep WHERE tenant_id = $1 AND done_at IS NULL)",
            world.caller.tenant_id,
        )
    )


async def test_first_quota_reaches_all_jobs_that_have_not_ended(world: World) -> None:
    """In small steps: ranges, jobs with priorities, children, limited, held and uncommitted ones;
    what runs counts, and is not stopped.
    """
    bob = await world.user("bob")
    worker = await world.worker()
    first = await world.submit(5)
    running = await worker.claim(2)
    family = await world.submit(job_rows(3, parents={3: [2]}, priority=[0, 1, 0]))
    limited = await world.submit(3, max_running=1)
    resting = await world.submit(3)
    await hold_and_park(world, resting)
    staged = await new_batch(world)
    update = await open_update(world, staged, 3)
    await add(world, staged, update, job_rows(3, parents={3: [1]}))
    others = await world.submit(1, caller=bob)
    assert await world.findings() == {}
    await set_quota(world, "ada", cores=3)
    for _ in range(5):
        await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=2)
    assert (await world.job(first, 5))["gate_set_id"] is None
    told_early = await why(world, first, 5)
    steps = await sweep(world)
    told = await why(world, first, 4)
    claimed = await worker.claim()

    assert steps > 10
    # Its priority is served first, and only then the head of the oldest batch.
    assert {*ids(claimed)} == {(family, 2), (others, 1)}
    assert told == told_early == ["waits: ada runs 3 of 3 cores that the quota allows"]
    assert await parked(world, resting) == [1, 2, 3]
    await world.api.commit_update(world.caller, staged, update.update_id)
    await release(world, resting)
    running += claimed
    order = []
    while running:
        order += [key for key in ids(running) if key != (others, 1)]
        assert await cores(world, world.caller) <= 3
        await worker.end(*running)
        await visit(world)
        running = await worker.claim()
    assert order == [
        (first, 1),
        (first, 2),
        (family, 2),
        *[(first, n) for n in (3, 4, 5)],
        (family, 1),
        (family, 3),
        (limited, 1),
        (limited, 2),
        *[(resting, n) for n in (1, 2)],
        (limited, 3),
        (resting, 3),
        (staged, 1),
        (staged, 2),
        (staged, 3),
    ]


async def test_quota_of_a_tenant_counts_what_all_its_users_run_already(world: World) -> None:
    bob = await world.user("bob")
    worker = await world.worker()
    hers = await world.submit(asking(world, 500, 1000, 1000))
    his = await world.submit(asking(world, 1000, 1000), caller=bob)
    running = await worker.claim()
    assert len(running) == 5
    await worker.end(*[one for one in running if one.job_id > 1], reason=Reason.LOST)
    await set_of_tenant(world, cores=2.5)
    await set_quota(world, None, cores=1.5)
    await sweep(world)
    more = await worker.claim()

    assert sorted(ids(more)) == [(hers, 2)]
    await worker.end(*more, *[one for one in running if one.job_id == 1])
    assert len(await worker.claim()) == 2
    assert await world.states(his) in {"sR", "sr"}


async def test_quota_that_goes_before_it_has_reached_all_jobs_lets_them_run(world: World) -> None:
    """Set again it reaches them again; those that have its gate keep it."""
    batch = await world.submit(6)
    await set_quota(world, "ada", cores=1)
    for _ in range(3):
        await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=2)
    await set_quota(world, "ada", cores=None)
    await sweep(world)
    worker, first = await world.claim(5)

    assert not await is_sweeping(world)
    assert ids(first) == [(batch, n) for n in range(1, 6)]
    await worker.end(*first, reason=Reason.LOST)
    await world.submit(1)
    await set_quota(world, "ada", cores=2)
    await sweep(world)
    assert ids(await worker.claim()) == [(batch, 1), (batch, 2)]


async def test_ranges_that_the_fold_is_moving_are_hidden_and_shown_later(world: World) -> None:
    """A step that finds one of them locked is repeated, so none stays as it was."""
    batch = await world.submit(6)
    other = await world.connect()
    locked = "SELECT FROM weft.runnable WHERE batch_id = $1 FOR UPDATE"
    in_pass = "SELECT pass FROM weft.core_sweep WHERE tenant_id = $1"
    passes = []
    for quota in (1, None):
        await set_quota(world, "ada", cores=quota)
        async with other.transaction():
            await other.execute(locked, batch)
            for _ in range(3):
                assert await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=2)
            passes.append(await world.admin.fetchval(in_pass, world.caller.tenant_id))
        if quota:
            await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=2)
    await sweep(world)
    worker = await world.worker()

    assert passes == ["hide", "show"]
    assert ids(await worker.claim(6)) == [(batch, n) for n in range(1, 7)]


async def test_quota_that_goes_beside_the_last_step_is_set_again(world: World) -> None:
    """The last step holds no lock of quotas."""
    batch = await world.submit(3)
    await set_quota(world, "ada", cores=1)
    await sweep(world)
    await set_quota(world, "ada", cores=None)
    # As if the removal had met the step that ends the sweep.
    await world.admin.execute(
        "INSERT INTO weft.core_sweep (tenant_id, user_id, pass, done_at) "
        "VALUES ($1, $2, 'show', now())",
        world.caller.tenant_id,
        world.caller.user_id,
    )
    await world.submit(1)
    await set_quota(world, "ada", cores=2)

    assert await is_sweeping(world)
    await sweep(world)
    worker = await world.worker()
    assert ids(await worker.claim()) == [(batch, 1), (batch, 2)]


async def test_jobs_that_ended_before_the_quota_count_when_they_are_retried(world: World) -> None:
    worker = await world.worker()
    batch = await world.submit(4)
    await worker.run(reason=Reason.EXIT)
    await set_quota(world, "ada", cores=1)
    await sweep(world)
    await finish(world, await begin(world, batch))

    for number in range(1, 5):
        claimed = await worker.claim()
        assert ids(claimed) == [(batch, number)]
        await worker.end(*claimed)


async def test_job_that_asks_for_more_than_a_first_quota_says_so(world: World) -> None:
    batch = await world.submit(asking(world, 2000, 500))
    await set_quota(world, "ada", cores=1)
    await sweep(world)

    assert ids(await (await world.worker()).claim()) == [(batch, 2)]
    assert await why(world, batch, 1) == ["needs 2 cores, and the quota of ada is 1"]


async def under_way(
    world: World, act: str, worker: Worker, batch: int, running: list[Claimed]
) -> tuple[str, dict[str, Any]]:
    """Prepare a call that changes jobs of a batch; return its function and arguments."""
    mine = {"incarnation_id": worker.id}
    ours = {"tenant_id": world.caller.tenant_id, "batch_id": batch}
    group = {**ours, "group_id": 0, "actor": ""}
    rows = job_rows(2, priority=1)
    match act:
        case "claim":
            budget = {"budget_cpu_m": 10**6, "budget_memory_mib": 10**6, "limit_jobs": 1}
            return "claim_jobs", mine | budget
        case "lost" | "ended":
            reason = Reason.LOST if act == "lost" else None
            return "complete_attempts", mine | end_columns([end_report(running.pop(), reason)])
        case "hold":
            return "hold_group", group
        case "release":
            await hold_and_park(world, batch)
            return "release_group", group
        case "unpark":
            await hold_and_park(world, batch)
            # As a release of a large batch leaves it.
            await world.admin.execute(
                "UPDATE weft.group_hold SET released_at = held_at, sweep_job = 0, swept = false "
                "WHERE batch_id = $1",
                batch,
            )
            return "sweep_holds", {"epoch": await world.lead(), "limit_jobs": 100}
    update = await open_update(world, batch, 2)
    if act == "add":
        return "add_jobs", _bunch(world.caller, batch, update.update_id, rows)
    await add(world, batch, update, rows)
    return "commit_update", ours | {"of_update_id": update.update_id}


@pytest.mark.parametrize(
    "act", ["claim", "lost", "ended", "hold", "release", "unpark", "add", "commit"]
)
async def test_who_is_under_way_is_waited_for(world: World, worker: Worker, act: str) -> None:
    """Whatever commits only after the quota or a step has begun."""
    priority = 1 if act == "unpark" else 0
    batch = await world.submit(job_rows(4, max_attempts=3, priority=priority))
    running = await worker.claim(1)
    function, arguments = await under_way(world, act, worker, batch, running)
    async with world.transaction() as other:
        found = await call_on(other, function, **arguments)
        waiting = await world.start_waiting(_set_and_sweep(world))
    await waiting
    if act == "claim":
        running.append(claimed_of(found[0]))
    elif act == "hold":
        assert await worker.claim() == []
        await release(world, batch)
    elif act == "add":
        await world.api.commit_update(world.caller, batch, arguments["update_id"])

    assert await world.findings() == {}
    n_left = 6 if act in {"add", "commit"} else 4
    n_left -= act == "ended"
    while running:
        assert await worker.claim() == []
        await worker.end(running.pop())
        n_left -= 1
    for _ in range(n_left):
        (one,) = await worker.claim()
        await worker.end(one)
    assert await worker.claim() == []


async def _set_and_sweep(world: World) -> None:
    await set_quota(world, "ada", cores=1)
    while await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=100):
        pass


NONE = 10**9
"""Of a user without a quota."""


class Late(Model):
    """As its base, but quotas come and go while jobs wait, and reach them step by step."""

    async def claim(self, worker: Worker, limit: int) -> None:
        before = [self.used(user) for user in (0, 1)]
        claimed = await worker.claim(limit)
        self.running |= {(one.batch_id, one.job_id): one for one in claimed}
        self.waiting -= self.running.keys()
        if not await is_sweeping(self.world):
            for user in (0, 1):
                assert self.used(user) <= max(self.most[user], before[user])

    async def set(self, user: int, most: int) -> None:
        self.most[user] = most
        limit = None if most == NONE else most / 1000
        await set_quota(self.world, self.users[user].user_name, cores=limit)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(2))
async def test_quotas_that_come_and_go_reach_all_jobs(world: World, seed: int) -> None:
    """Against a model: the driver takes small steps in between, and the audit looks after each."""
    rng = random.Random(seed)  # noqa: S311 (a test)
    worker = await world.worker()
    users: list[Caller] = [world.caller, await world.user("bob")]
    model = Late(world, users, rng)
    model.most = [NONE, NONE]
    for _ in range(STEPS):
        step = rng.choice(
            ["submit", "claim", "end", "end", "cancel", "fold", "set", "driver", "driver"]
        )
        await model.do(step, worker, NONE)
        if step == "driver":
            await world.driver.sweep("pass_gates", await world.lead(), limit_jobs=2)
            assert await world.findings() == {}
    for user in (0, 1):
        await model.set(user, 3000)
    await sweep(world)
    while model.running or model.waiting:
        while model.running:
            await model.end(worker, None)
        await visit(world)
        await model.claim(worker, 100)
        assert model.running or not model.waiting
