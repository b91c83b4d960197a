"""Cordoned workers: they get no new job and keep what they have."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from store.pool_rows import others
from store.test_waiting import ear
from store.world import Worker, World
from weft.core import errors
from weft.core.pools import Decision, Demand, Flavour, Machine, Pool, decide
from weft.ports.store import Row


async def cordon(world: World, name: str = "w", reason: str | None = None) -> bool:
    return await world.api.cordon_worker(world.caller, name, world.pool, reason=reason)


async def uncordon(world: World, name: str = "w") -> bool:
    return await world.api.uncordon_worker(world.caller, name, world.pool)


async def drain(world: World, name: str = "w", reason: str | None = None) -> bool:
    return await world.api.drain_worker(world.caller, name, world.pool, reason=reason)


async def silent(world: World, worker: Worker) -> None:
    """Let the driver find that a worker is lost."""
    await world.age("worker_incarnation", "heartbeat_at", by_s=3600, incarnation_id=worker.id)
    await world.driver.lose_workers(await world.lead(), 30.0)


async def shown(world: World, name: str = "w") -> Row:
    return await world.api.get_worker(world.caller, name, world.pool)


async def listed(world: World, *, with_deleted: bool = False) -> dict[str, str]:
    rows = await world.api.list_workers(world.caller, with_deleted=with_deleted, limit=1000)
    return {row["worker"]: row["state"] for row in rows if row["pool"] == world.pool}


async def test_cordoned_worker_gets_nothing_and_ends_what_it_has(world: World) -> None:
    batch = await world.submit(3)
    worker, other = await world.worker(), await world.worker("other")
    (one,) = await worker.claim_and_start(1)
    is_new = await cordon(world, reason="new disk")
    (shown_there,) = [
        w
        for w in (await world.api.overview(world.caller))["workers"]
        if w["worker"] == "w" and w["pool"] == world.pool
    ]
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


async def test_uncordoned_worker_wakes_and_claims(world: World, worker: Worker) -> None:
    await cordon(world)
    assert await worker.waits()
    listener = await ear(world, "work")
    await world.submit(2)
    assert await uncordon(world)

    assert await listener.hears() == ("work", f"{worker.registered.pool_id}:{worker.id}")
    assert len(await worker.claim()) == 2
    assert (await shown(world))["state"] == "active"
    assert not await uncordon(world)


async def test_cordon_waits_for_the_claim_under_way_and_is_dated_after_it(world: World) -> None:
    batch, worker = await world.submit_to_worker(4)
    async with world.claiming(worker, 2):
        cordoning = await world.start_waiting(cordon(world))
        assert await worker.claim() == []
    assert await cordoning

    assert await worker.claim() == []
    assert await world.states(batch) == "RRrr"
    assert (await shown(world))["n_running"] == 2


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
    await silent(world, workers["silent"])
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


async def test_draining_worker_ends_when_nothing_runs(world: World) -> None:
    batch, worker, (one,) = await world.submit_and_claim(2, limit=1)
    assert not (await worker.beat(one)).drains
    assert not await worker.store.finish_drain(worker.id)
    assert await drain(world, reason="old")
    answer = await worker.beat(one)

    assert (answer.alive, answer.drains, answer.has_work) == (True, True, False)
    assert await worker.claim() == []
    assert (await shown(world))["state"] == "draining"
    assert not await worker.store.finish_drain(worker.id)
    assert await worker.end(one) == ["ok"]
    for _ in range(2):
        assert await worker.store.finish_drain(worker.id)
    assert not (await worker.beat()).alive
    assert await world.states(batch) == "sr"
    found = await shown(world)
    assert (found["state"], found["cordoned_at"]) == ("deleted", None)
    assert [(x["state"], x["actor"], x["reason"]) for x in found["history"]] == [
        ("deleted", "worker", None),
        ("draining", "user ada", "old"),
    ]
    again = await world.worker(incarnation=f"next {worker.id}")
    assert len(await again.claim()) == 1


async def test_a_cordon_becomes_a_drain_and_is_taken_back(world: World, worker: Worker) -> None:
    listener = await ear(world, "worker")
    await cordon(world, reason="hot")

    assert [await drain(world, reason="old"), await drain(world)] == [True, False]
    assert await listener.hears() == ("worker", str(worker.id))
    assert not await cordon(world)
    found = await shown(world)
    assert (found["state"], found["cordon_reason"]) == ("draining", "hot")
    assert await uncordon(world)
    assert not await worker.store.finish_drain(worker.id)
    assert not (await worker.beat()).drains
    assert (await shown(world))["state"] == "active"


async def test_drain_goes_on_after_a_loss_and_a_restart(world: World, worker: Worker) -> None:
    batch = await world.submit(1)
    await worker.start(*await worker.claim())
    await drain(world)
    await silent(world, worker)
    lost = (await shown(world))["state"]
    again = await world.worker(incarnation=f"next {worker.id}")

    assert lost == "lost"
    assert not await worker.store.finish_drain(worker.id)
    assert (await again.beat()).drains
    assert await again.claim() == []
    assert await again.store.finish_drain(again.id)
    assert await world.states(batch) == "r"


async def test_drain_of_a_lost_worker_is_over_at_once(world: World) -> None:
    await silent(world, await world.worker())

    assert await drain(world)
    assert (await shown(world))["state"] == "deleted"
    with pytest.raises(errors.WorkerEnded):
        await drain(world)


async def test_draining_worker_that_is_stopped_is_drained(world: World, worker: Worker) -> None:
    await drain(world)
    await worker.store.leave(worker.id)

    assert (await shown(world))["cordoned_at"] is None
    again = await world.worker(incarnation=f"next {worker.id}")
    assert not (await again.beat()).drains


async def test_a_job_taken_between_a_look_and_a_drain_is_never_killed(world: World) -> None:
    """An idle worker is drained while it claims; whoever comes first, the job runs to its end."""
    batch = await world.submit(60)
    for number in range(30):
        worker = await world.worker(f"w{number}")
        if number % 2:
            claimed, _ = await asyncio.gather(worker.claim(1), drain(world, f"w{number}"))
        else:
            _, claimed = await asyncio.gather(drain(world, f"w{number}"), worker.claim(1))
        is_over = await worker.store.finish_drain(worker.id)

        assert is_over == (not claimed)
        if claimed:
            assert (await worker.beat(*claimed)).to_stop == []
            assert await worker.end(*claimed) == ["ok"]
            assert await worker.store.finish_drain(worker.id)
    assert set(await world.states(batch)) <= {"s", "r"}


async def test_audit_finds_a_claim_of_a_cordoned_worker(own_world: World) -> None:
    await own_world.submit(1)
    worker = await own_world.worker()
    await cordon(own_world)
    await own_world.admin.execute("UPDATE weft.worker_incarnation SET cordoned = false")
    await worker.claim()
    found = await own_world.findings()
    await own_world.admin.execute("UPDATE weft.worker_change SET at = at + interval '1 hour'")

    assert [row["job_id"] for row in found["cordoned_workers_claim_nothing"]] == [1]


MACHINES = 20
FLAVOUR = Flavour(name="one", cpu_m=1000, memory_mib=1024)


class Shrinking:
    """A pool of machines with workers, looked at by the driver."""

    def __init__(self, world: World, epoch: int) -> None:
        self.world = world
        self.epoch = epoch
        self.pool = Pool(
            name=world.pool,
            provider="none",
            max_workers=MACHINES,
            idle_s=1,
            deletes_per_round=MACHINES,
            flavours=(FLAVOUR,),
        )
        self.workers: dict[str, Worker] = {}

    async def open(self) -> None:
        """Make the machines, and let their workers come."""
        await self.world.api.save_pools(self.world.caller, [*await others(self.world), self.pool])
        names = await self.world.driver.add_machines(
            self.epoch, (await self.row())["pool_id"], [(FLAVOUR.name, "", "why")] * MACHINES
        )
        for name in names:
            self.workers[name] = await self.world.worker(name, cpu_m=1000, memory_mib=1024)

    async def row(self) -> Row:
        """Return what the driver sees of the pool."""
        rows = await self.world.driver.pool_rounds(self.epoch, limit_jobs=100)
        (found,) = [one for one in rows if one["plan"]["name"] == self.pool.name]
        return found

    async def decisions(self) -> list[Decision]:
        """Return what the driver decides for machines on which nothing ran for long, while no job
        of the queue is a reason to keep them.
        """
        row = await self.row()
        machines = [msgspec.convert({**one, "idle_s": 60.0}, Machine) for one in row["machines"]]
        nothing: list[Demand] = []
        return decide(self.pool, nothing, machines)

    async def do(self, decisions: Sequence[Decision], kind: str) -> None:
        """Do what was decided, all of one kind, for every machine."""
        assert {one.machine for one in decisions} == self.workers.keys()
        for one in decisions:
            assert one.kind == kind
            assert one.machine is not None
            assert await self.world.driver.move_machine(
                self.epoch, one.machine, one.kind, one.reason
            )


@pytest.mark.parametrize(
    "times", [40, pytest.param(1000, marks=[pytest.mark.heavy, pytest.mark.slow])]
)
async def test_a_job_taken_between_look_and_cordon_runs_to_its_end(
    world: World, times: int
) -> None:
    pool = Shrinking(world, await world.lead())
    await pool.open()
    batch = await world.submit(times)
    for _ in range(times // MACHINES):
        looked = await pool.decisions()
        taken = {name: (await worker.claim(1))[0] for name, worker in pool.workers.items()}
        await pool.do(looked, "cordon")
        assert await pool.decisions() == []
        for name, worker in pool.workers.items():
            answer = await worker.beat(taken[name])
            assert answer.alive
            assert not answer.to_stop
            assert not await worker.store.finish_drain(worker.id)
            assert await worker.end(taken[name]) == ["ok"]
        empty = await pool.decisions()
        assert {one.kind for one in empty} == {"delete"}
        for name in pool.workers:
            assert await world.driver.move_machine(pool.epoch, name, "uncordon", "another time")
    await pool.do(await pool.decisions(), "cordon")
    await pool.do(await pool.decisions(), "delete")
    for name, worker in pool.workers.items():
        assert await worker.store.finish_drain(worker.id)
        await world.driver.record_machine(pool.epoch, name, "gone", reason="gone")
    await world.api.save_pools(world.caller, await others(world))

    assert await world.states(batch) == "s" * times
    rows = await world.admin.fetch("SELECT attempt FROM weft.job WHERE batch_id = $1", batch)
    assert {row["attempt"] for row in rows} == {1}
