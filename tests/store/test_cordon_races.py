"""A job that is taken between the look at an idle machine and its cordon is never killed."""

from collections.abc import Sequence

import msgspec
import pytest

from store.pool_rows import others
from store.world import Worker, World
from weft.core.pools import Decision, Demand, Flavour, Machine, Pool, decide
from weft.ports.store import Row

MACHINES = 20
FLAVOUR = Flavour(name="one", cpu_m=1000, memory_mib=1024)


class Shrinking:
    """A pool of machines with workers, looked at by the driver."""

    def __init__(self, world: World, epoch: int) -> None:
        self.world = world
        self.epoch = epoch
        self.pool = Pool(
            name=world.pool, provider="none", max_workers=MACHINES, idle_s=1,
            deletes_per_round=MACHINES, flavours=(FLAVOUR,),
        )  # fmt: skip
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
