"""Cordoned workers: they get no new job and keep what they have."""

import asyncio
from datetime import timedelta

import pytest

from store.world import World
from weft.core import errors
from weft.ports.store import Row
from weft.store.database import call_on


async def cordon(world: World, name: str = "w", reason: str | None = None) -> bool:
    return await world.api.cordon_worker(world.caller, name, world.pool, reason=reason)


async def uncordon(world: World, name: str = "w") -> bool:
    return await world.api.uncordon_worker(world.caller, name, world.pool)


async def shown(world: World, name: str = "w") -> Row:
    return await world.api.get_worker(world.caller, name, world.pool)


async def listed(world: World, *, with_deleted: bool = False) -> dict[str, str]:
    rows = await world.api.list_workers(world.caller, with_deleted=with_deleted, limit=1000)
    return {row["worker"]: row["state"] for row in rows if row["pool"] == world.pool}


async def test_cordoned_worker_gets_nothing_and_ends_what_it_has(world: World) -> None:
    batch = await world.submit(3)
    worker, other = await world.worker(), await world.worker("other")
    (one,) = await worker.claim(1)
    await worker.start(one)
    is_new = await cordon(world, reason="new disk")
    (shown_there,) = [w for w in (await world.api.overview(world.caller))["workers"]
                      if w["worker"] == "w" and w["pool"] == world.pool]  # fmt: skip
    answer = await worker.beat(one)

    assert is_new
    assert (shown_there["state"], shown_there["n_running"]) == ("cordoned", 1)
    assert answer.alive
    assert not answer.has_work
    assert answer.to_stop == []
    assert await worker.claim() == []
    assert await worker.waits()
    assert await worker.end(one) == ["ok"]
    assert [claimed.job_id for claimed in await other.claim()] == [2, 3]
    assert await world.states(batch) == "sRR"
    assert "cordoned_workers_claim_nothing" not in await world.findings()


async def test_uncordoned_worker_wakes_and_claims(world: World) -> None:
    worker = await world.worker()
    await cordon(world)
    assert await worker.waits()
    heard: asyncio.Queue[object] = asyncio.Queue()
    connection = await world.connect()
    await connection.add_listener("work", lambda *notice: heard.put_nowait(notice[3]))
    await world.submit(2)
    assert await uncordon(world)

    async with asyncio.timeout(10):
        assert await heard.get() == f"{worker.registered.pool_id}:{worker.id}"
    assert len(await worker.claim()) == 2
    assert (await shown(world))["state"] == "active"
    assert not await uncordon(world)


async def test_cordon_waits_for_the_claim_under_way_and_is_dated_after_it(world: World) -> None:
    batch = await world.submit(4)
    worker = await world.worker()
    connection = await world.connect("weft_worker")
    async with connection.transaction():
        await call_on(
            connection, "claim_jobs", incarnation_id=worker.id, budget_cpu_m=9999,
            budget_memory_mib=9999, limit_jobs=2,
        )  # fmt: skip
        cordoning = asyncio.create_task(cordon(world))
        await world.until_somebody_waits()
        assert await worker.claim() == []
    assert await cordoning

    assert await worker.claim() == []
    assert await world.states(batch) == "RRrr"
    assert (await shown(world))["n_running"] == 2
    assert await world.findings() == {}


async def test_cordon_stays_when_the_processes_are_started_again(world: World) -> None:
    await world.submit(1)
    worker = await world.worker()
    await cordon(world, reason="hot")
    again = await worker.store.register_worker(**worker.facts)
    new = await world.worker(incarnation=f"next {worker.id}", gone=True)

    assert again.incarnation_id == worker.id
    assert await worker.claim() == []
    assert await new.claim() == []
    assert await uncordon(world)
    assert len(await new.claim()) == 1


async def test_first_reason_stays_and_all_changes_are_told(world: World) -> None:
    await world.worker()
    for reason in ("hot", "cold"):
        await cordon(world, reason=reason)
    found = await shown(world)
    await uncordon(world)
    after = await shown(world)

    assert (found["cordoned_by"], found["cordon_reason"]) == ("user ada", "hot")
    assert [(one["state"], one["reason"]) for one in after["history"]] == [
        ("active", None),
        ("cordoned", "hot"),
    ]
    assert after["cordoned_at"] is after["cordon_reason"] is None


async def test_newest_hundred_changes_are_kept(world: World) -> None:
    await world.worker()
    for number in range(51):
        await cordon(world, reason=f"{number}")
        await uncordon(world)
    history = (await shown(world))["history"]

    assert len(history) == 100
    assert history[-1]["reason"] == "1"


async def test_states_of_workers_that_are_gone(world: World) -> None:
    names = ("stays", "silent", "left")
    workers = {name: await world.worker(name) for name in names}
    await cordon(world, "silent")
    await world.admin.execute(
        "UPDATE weft.worker_incarnation SET heartbeat_at = heartbeat_at - $2::interval "
        "WHERE incarnation_id = $1",
        workers["silent"].id, timedelta(hours=1),
    )  # fmt: skip
    await world.driver.lose_workers(await world.lead(), 30.0)
    await workers["left"].store.leave(workers["left"].id)

    assert await listed(world) == {"silent": "lost", "stays": "active"}
    assert (await listed(world, with_deleted=True))["left"] == "deleted"
    with pytest.raises(errors.WorkerEnded, match='worker "left" has ended'):
        await cordon(world, "left")
    back = await world.worker("silent")
    assert (await shown(world, "silent"))["state"] == "cordoned"
    assert await back.claim() == []
    await world.worker("left")
    assert (await listed(world))["left"] == "active"


async def test_worker_is_found_by_name_and_pool(world: World) -> None:
    name = f"{world.pool}-twin"
    one = await world.worker(name)
    there = await one.store.register_worker(
        **{**one.facts, "pool": "default", "incarnation": f"{name} there"}
    )

    with pytest.raises(errors.WorkerNotFound):
        await world.api.get_worker(world.caller, "nobody", None)
    with pytest.raises(errors.WorkerNotFound, match="does not exist"):
        await cordon(world, "nobody")
    with pytest.raises(errors.WorkerAmbiguous, match="several workers"):
        await world.api.uncordon_worker(world.caller, name, None)
    assert (await world.api.get_worker(world.caller, name, "default"))["pool"] == "default"
    await one.store.leave(there.incarnation_id)


async def test_audit_finds_a_claim_of_a_cordoned_worker(own_world: World) -> None:
    world = own_world
    await world.submit(1)
    worker = await world.worker()
    await cordon(world)
    await world.admin.execute("UPDATE weft.worker_incarnation SET cordoned = false")
    await worker.claim()
    found = await world.findings()
    await world.admin.execute("UPDATE weft.worker_change SET at = at + interval '1 hour'")

    assert [row["job_id"] for row in found["cordoned_workers_claim_nothing"]] == [1]
    assert await world.findings() == {}
