"""Which conditions a caller sees: those for which a job waits in a batch that they see."""

import random
from collections import Counter
from typing import Any

import pytest

from store.batch_steps import delete, remove
from store.grants import grant, join, leave, project_of
from store.test_conditions import ASK, block, due, operator, record, soon
from store.test_visibility import get
from store.world import Worker, World
from weft.core import errors
from weft.core.access.rights import Permission
from weft.core.ends.conditions import Ask
from weft.ports.store import Caller

CHECK = "conditions_note_their_batches"
N_ASKS = 4


async def listed(world: World, caller: Caller) -> dict[int, int]:
    """Return the conditions that are listed, two a page, with how many jobs wait for each."""
    found: dict[int, int] = {}
    while True:
        after = max(found, default=0)
        rows = await world.api.list_conditions(caller, after_id=after, limit=2)
        if not rows:
            return found
        found |= {row["condition_id"]: row["n_jobs"] for row in rows}


async def refusal(world: World, caller: Caller, number: int) -> tuple[str, ...]:
    """Return how a condition is refused to a caller, on both ways, without its number."""
    texts = []
    for call in (
        world.api.get_condition(caller, number, limit_jobs=9),
        world.api.test_condition(caller, number),
    ):
        with pytest.raises(errors.ConditionNotFound) as caught:
            await call
        texts += [str(caught.value).replace(str(number), "N"), caught.value.detail or ""]
    return tuple(texts)


async def told(world: World, caller: Caller, start: tuple[int, int]) -> dict[str, set[int]]:
    """Return of which conditions a caller hears that they began, and that they are over."""
    rows, _ = await world.api.list_events(caller, after=start, batch_id=None, limit=1000)
    found: dict[str, set[int]] = {"condition.opened": set(), "condition.closed": set()}
    for row in rows:
        if row["kind"] in found:
            assert "batches" not in row["detail"]
            found[row["kind"]].add(row["detail"]["condition_id"])
    return found


async def waiting(world: World) -> Counter[tuple[int, int]]:
    """Return how many jobs of each batch wait for each condition: batch and condition."""
    rows = await world.admin.fetch(
        "SELECT batch_id, condition_id FROM weft.blocked_job "
        "WHERE tenant_id = $1 AND condition_id IS NOT NULL",
        world.caller.tenant_id,
    )
    return Counter((row[0], row[1]) for row in rows)


async def share_out(world: World, chance: random.Random) -> list[Caller]:
    """Let each of three users own some of many batches, be a member of one project, and have been
    granted some batches; block jobs of all of them, and let some go on.
    """
    members = [world.caller, *[await world.user(name) for name in ("bob", "cyd")]]
    projects = [await project_of(world, name, *members) for name in "pqr"]
    worker = await world.worker()
    for _ in range(14):
        batch = await world.submit(
            chance.randint(1, 3),
            caller=chance.choice(members),
            billing_project=chance.choice("pqr"),
        )
        for claimed in await worker.claim():
            ask = Ask("quota", "tcp", {"host": f"h{chance.randrange(N_ASKS)}", "port": "1"})
            await block(worker, claimed, ask=ask)
        if chance.random() < 0.3:
            await world.api.cancel_jobs(world.caller, batch, [1])
    callers = [await leave(world, one) for one in members]
    batches = [
        row[0]
        for row in await world.admin.fetch(
            "SELECT batch_id FROM weft.batch WHERE tenant_id = $1", world.caller.tenant_id
        )
    ]
    for one in callers[1:]:
        if chance.random() < 0.5:
            await join(world, one, chance.choice(projects))
        for batch in chance.sample(batches, 3):
            await grant(world, one, batch, chance.choice(list(Permission)))
    return callers


@pytest.mark.parametrize("seed", range(4))
async def test_conditions_are_those_of_batches_that_one_sees(world: World, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (a test)
    start = await world.api.events_now()
    callers = await share_out(world, chance)
    jobs = await waiting(world)
    everything = {number for _, number in jobs}
    opened = await world.admin.fetch(
        "SELECT (detail ->> 'condition_id')::bigint AS number, detail -> 'batches' AS batches "
        "FROM weft.event WHERE tenant_id = $1 AND kind = 'condition.opened'",
        world.caller.tenant_id,
    )
    nothing = await refusal(world, callers[1], 10**9)
    for one in [*callers, operator(world)]:
        seen = {batch for batch, _ in jobs if await get(world, one, batch)}
        expected: Counter[int] = Counter()
        for (batch, number), n_jobs in jobs.items():
            expected[number] += n_jobs if batch in seen else 0
        expected += Counter()  # without those of which none is seen
        began = {
            row["number"]
            for row in opened
            if any([await get(world, one, int(batch)) for batch in row["batches"]])
        }

        assert await listed(world, one) == expected
        assert (await world.api.overview_counts(one))["conditions"] == len(expected)
        assert (await told(world, one, start))["condition.opened"] == began
        for number in everything:
            if number not in expected:
                assert await refusal(world, one, number) == nothing
                continue
            found = await world.api.get_condition(one, number, limit_jobs=99)
            assert found["n_jobs"] == expected[number] == len(found["jobs"])
            assert {job["batch_id"] for job in found["jobs"]} <= seen
            assert [job["next_at"] for job in found["jobs"]] == sorted(
                job["next_at"] for job in found["jobs"]
            )
            await world.api.test_condition(one, number)
    assert CHECK not in await world.findings()


async def test_job_that_is_seen_in_several_ways_counts_once(world: World) -> None:
    """Those that are due first are shown."""
    bob, worker = await world.user("bob"), await world.worker()
    project = await project_of(world, "p", bob, world.caller)
    batches = [
        await world.submit(2, caller=one, billing_project="p") for one in (bob, world.caller)
    ]
    for claimed in await worker.claim():
        await block(worker, claimed)
    bob = await leave(world, bob)
    await join(world, bob, project)
    for batch in batches:
        await grant(world, bob, batch, Permission.READ)
    whole = await listed(world, operator(world))
    (number,) = whole
    shown = [
        await world.api.get_condition(one, number, limit_jobs=3) for one in (bob, operator(world))
    ]

    assert await listed(world, bob) == whole == {number: 4}
    assert shown[0] == shown[1]
    assert len(shown[0]["jobs"]) == 3


async def test_why_counts_the_jobs_that_one_sees(world: World, worker: Worker) -> None:
    await world.submit(3)
    await block(worker, *await worker.claim())
    bob = await world.user("bob")
    batch = await world.submit(2, caller=bob)
    await block(worker, *await worker.claim())
    bob = await leave(world, bob)
    facts = [
        one.blocked.condition.n_jobs
        for caller in (bob, operator(world))
        for one in await world.api.why_jobs(caller, batch, [1, 2])
        if one.blocked and one.blocked.condition
    ]

    assert facts == [2, 2, 5, 5]


async def close_all(world: World, batches: list[int]) -> None:
    for batch in batches:
        await world.api.cancel_group(world.caller, batch, 0, force=False)
    while await world.driver.sweep("sweep_cancelled", await world.lead(), limit_jobs=100):
        pass
    await due(world, soon(1000))


async def test_end_is_told_to_those_whose_jobs_waited(world: World, worker: Worker) -> None:
    start = await world.api.events_now()
    users = [await world.user(name) for name in ("bob", "cyd")]
    batches = [await world.submit(2, caller=users[0]), await world.submit(caller=users[0])]
    first, second, third = await worker.claim()
    await block(worker, first)
    await block(worker, second, third)
    joined = await world.submit(caller=users[1])
    await block(worker, *await worker.claim())
    bob, cyd = [await leave(world, one) for one in users]
    stranger = await leave(world, await world.user("dan"))
    (number,) = await listed(world, operator(world))
    await close_all(world, [*batches, joined])
    heard = {
        name: await told(world, one, start)
        for name, one in {
            "bob": bob,
            "cyd": cyd,
            "dan": stranger,
            "operator": operator(world),
        }.items()
    }

    both = {"condition.opened": {number}, "condition.closed": {number}}
    assert heard == {
        "bob": both,
        "operator": both,
        "cyd": {**both, "condition.opened": set()},
        "dan": {kind: set() for kind in both},
    }


async def test_end_is_told_to_nobody_whose_batches_are_removed(world: World) -> None:
    """It stops no stream of events, either."""
    start = await world.api.events_now()
    worker = await world.worker()
    batch = await world.submit()
    await block(worker, *await worker.claim())
    (number,) = await listed(world, operator(world))
    owner = await leave(world, world.caller)
    await remove(world, await delete(world, batch))
    await due(world, soon(1000))

    assert (await told(world, owner, start))["condition.closed"] == set()
    assert (await told(world, operator(world), start))["condition.closed"] == {number}


async def test_event_of_many_batches_counts_the_jobs_that_one_sees(world: World) -> None:
    start = await world.api.events_now()
    worker = await world.worker()
    await world.submit(3)
    bob = await world.user("bob")
    await world.submit(2, caller=bob)
    await block(worker, *await worker.claim())
    bob = await leave(world, bob)

    async def counted(caller: Caller) -> list[Any]:
        rows, _ = await world.api.list_events(caller, after=start, batch_id=None, limit=100)
        return [row["detail"]["n_jobs"] for row in rows if row["kind"] == "condition.opened"]

    assert await counted(bob) == [2]
    assert await counted(operator(world)) == [5]


async def test_jobs_that_go_on_take_the_condition_along(world: World, worker: Worker) -> None:
    bob = await world.user("bob")
    await world.submit(caller=bob)
    await block(worker, *await worker.claim())
    await world.submit(20)
    await block(worker, *await worker.claim())
    bob = await leave(world, bob)
    (number,) = before = await listed(world, bob)
    await record(world, [number], soon(11), passed=True)
    await world.call("release_conditions", epoch=await world.lead(), limit_jobs=1000, at=soon(11))

    assert before == {number: 1}
    assert await listed(world, bob) == {}
    assert await listed(world, operator(world)) == {number: 11}
    assert len(await refusal(world, bob, number)) == 4


async def test_removed_batch_is_noted_no_more(world: World, worker: Worker) -> None:
    batch = await world.submit(2)
    await block(worker, *await worker.claim())
    other = await world.submit()
    await block(worker, *await worker.claim())
    await remove(world, await delete(world, batch))
    left = await world.admin.fetch(
        "SELECT batch_id FROM weft.condition_batch WHERE tenant_id = $1", world.caller.tenant_id
    )

    assert [row[0] for row in left] == [other]


async def test_audit_sees_a_batch_that_is_not_noted(own_world: World) -> None:
    worker = await own_world.worker()
    await own_world.submit()
    await block(worker, *await worker.claim(), ask=ASK)
    assert CHECK not in await own_world.findings()
    for change in (
        "UPDATE weft.condition_batch SET owner_id = owner_id + 1",
        "UPDATE weft.condition_batch SET project_id = project_id + 1",
        "DELETE FROM weft.condition_batch",
    ):
        assert len((await own_world.findings_after(change))[CHECK]) == 1, change
