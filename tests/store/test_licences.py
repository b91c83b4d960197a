"""Licences: counted over all pools and tenants, and never over-committed."""

import random
from collections.abc import Sequence
from uuid import uuid4

import msgspec
import pytest

from builders import job_rows, with_fields
from contexts import async_fixture_of
from store.barriers import visit
from store.world import Worker, World, open_world
from weft.core.states import Reason
from weft.core.why.facts import JobName
from weft.ports.store import JobRows
from weft.submission.translation.gates import licence_gates


@pytest.fixture
def name() -> str:
    """Return the name of a licence that no other test uses."""
    return f"l{uuid4().hex}"


other_world = async_fixture_of(open_world)
"""Another tenant with another pool."""


def asking(*asked: dict[str, int]) -> JobRows:
    """Return a job for each of these: how many it asks of which licence."""
    fields = {
        f"j{n}": {"licences": one, "gates": msgspec.to_builtins(licence_gates(one))}
        for n, one in enumerate(asked, 1)
    }
    return with_fields(job_rows(len(asked)), **fields)


async def used(world: World, name: str) -> int:
    (found,) = [
        one for one in await world.api.list_licences(world.caller) if one["licence"] == name
    ]
    count: int = found["n_used"]
    return count


def ids(claimed: Sequence[object]) -> list[int]:
    return [one.job_id for one in claimed]  # type: ignore[attr-defined]


async def test_pools_and_tenants_share_a_licence(
    world: World, other_world: World, name: str
) -> None:
    await world.api.set_licence(world.caller, name, 3)
    await world.submit(asking(*[{name: 1}] * 3))
    await other_world.submit(asking(*[{name: 1}] * 3))
    here, there = await world.worker(), await other_world.worker()
    first, none = await here.claim(), await there.claim()

    assert (len(first), len(none), await used(world, name)) == (3, 0, 3)
    await here.end(*first)
    assert len(await there.claim()) == 3


async def test_a_job_that_needs_many_is_not_overtaken_for_ever(world: World, name: str) -> None:
    await world.api.set_licence(world.caller, name, 4)
    _, worker, running = await world.submit_and_claim(
        asking(*[{name: 1}] * 4, {name: 4}, *[{name: 1}] * 4)
    )
    for one in running:
        assert await worker.claim() == []
        await worker.end(one)

    assert ids(await worker.claim()) == [5]


async def test_one_that_needs_more_than_there_are_lets_others_pass(
    world: World, name: str
) -> None:
    await world.api.set_licence(world.caller, name, 4)
    _, worker, running = await world.submit_and_claim(asking({name: 1}, {name: 4}, {name: 1}))
    assert ids(running) == [1]
    await world.api.set_licence(world.caller, name, 3)
    await visit(world)

    assert ids(await worker.claim()) == [3]


async def test_a_removed_licence_comes_back(world: World, worker: Worker, name: str) -> None:
    await world.api.set_licence(world.caller, name, 1)
    await world.api.remove_licence(name)
    await world.submit(asking({name: 1}))

    assert await worker.claim() == []
    await world.api.set_licence(world.caller, name, 1)
    await visit(world)
    assert ids(await worker.claim()) == [1]


async def test_who_uses_it_is_told_within_the_tenant(
    world: World, other_world: World, name: str
) -> None:
    await world.api.set_licence(world.caller, name, 3)
    own = await world.submit(asking({name: 2}))
    await other_world.submit(asking({name: 1}))
    for one in (world, other_world):
        assert len(await (await one.worker()).claim()) == 1
    late = await world.submit(asking({name: 1}))
    strange = await other_world.submit(asking({name: 1}))
    (gate,) = (await world.api.why_job(world.caller, late, 1)).gates
    (seen,) = (await other_world.api.why_job(other_world.caller, strange, 1)).gates

    assert (gate.kind, gate.key, gate.n_taken) == ("licence", name, 3)
    assert gate.holders == (JobName(own, 1, "ada", 2),)
    assert [one.cost for one in seen.holders] == [1]


async def test_never_over_committed_whatever_comes(world: World, name: str) -> None:
    """The audit at the end of each test proves it from the times of the attempts."""
    chance = random.Random(7)  # noqa: S311 (guards nothing)
    names = [name, f"{name}b"]
    for one in names:
        await world.api.set_licence(world.caller, one, 3)
    workers = [await world.worker(f"w{n}") for n in range(2)]
    asked = [
        {one: chance.randint(1, 3) for one in names if chance.random() < 0.7} for _ in range(30)
    ]
    batch = await world.submit(asking(*asked))
    for _ in range(200):
        worker = chance.choice(workers)
        claimed = await worker.claim(chance.randint(1, 4))
        ends = [None, None, Reason.LOST]
        for taken in claimed:
            await worker.end(taken, reason=chance.choice(ends))
        if chance.random() < 0.2:
            await world.api.set_licence(world.caller, chance.choice(names), chance.randint(2, 4))
            await visit(world)
        for one in names:
            assert await used(world, one) <= 4
    for one in names:
        await world.api.set_licence(world.caller, one, 3)
    await visit(world)
    while await workers[0].run():
        pass

    assert set(await world.states(batch)) == {"s"}


async def test_the_audit_finds_what_was_over_committed(world: World, name: str) -> None:
    await world.api.set_licence(world.caller, name, 2)
    batch, worker = await world.submit_to_worker(asking({name: 1}, {name: 2}))
    while await worker.run():
        pass
    found = await world.findings_after(
        "UPDATE weft.attempt SET claimed_at = claimed_at - interval '9 s' WHERE batch_id = $1",
        batch,
    )

    assert found["gates_hold_at_all_times"][0]["n_running"] == 3
