"""Machines that are made for one job each, and go with it."""

from collections.abc import AsyncIterator, Sequence
from random import Random

import pytest
import pytest_asyncio

from builders import job_rows
from store.barriers import visit
from store.pool_rows import described
from store.test_faulty_providers import Site
from store.test_rates import rows_with
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Claimed, Shape
from weft.wire.keys import Rate

OWN = Shape(cpu_m=1000, memory_mib=512, words=(("machine", "small"),))


class OwnSite(Site):
    """A pool in which jobs want machines of their own."""

    def __init__(self, world: World, epoch: int) -> None:
        super().__init__(world, epoch)
        self.batches: list[int] = []

    async def own(self, n_jobs: int = 1) -> int:
        """Submit jobs of which each wants a machine."""
        self.batches.append(await self.world.submit(job_rows(n_jobs, shapes=[OWN])))
        return self.batches[-1]

    async def begun(self, **own: int) -> tuple[int, str, Worker]:
        """Submit a job that wants a machine, whose worker has come; return its batch and these."""
        batch = await self.own()
        await self.rounds()
        (name,) = await self.machines("creating")
        return batch, name, await self.come(name, **own)

    async def cancel(self) -> None:
        """Cancel all jobs that want machines."""
        for batch in self.batches:
            await self.world.api.cancel_group(self.world.caller, batch, 0, force=True)
        await self.world.sweep()

    async def machines(self, state: str) -> list[str]:
        """Return the names of machines in a state."""
        return [name for name, found in (await self.known()).items() if found == state]

    async def come(self, name: str, *, cpu_m: int = 1000) -> Worker:
        """Let the worker of a machine register."""
        return await self.world.worker(name, machine=[name], cpu_m=cpu_m)

    async def drained(self, worker: Worker) -> None:
        """Let a worker end that was told to."""
        assert (await worker.beat()).drains
        assert await worker.store.finish_drain(worker.id)

    async def age(self, seconds: float) -> None:
        """Let all machines be older."""
        await self.world.admin.execute(
            "UPDATE weft.machine m SET created_at = created_at - $2 * interval '1 second', "
            "changed_at = changed_at - $2 * interval '1 second', "
            "costs_from = costs_from - $2 * interval '1 second' FROM weft.pool p "
            "WHERE p.pool_id = m.pool_id AND p.name = $1",
            self.world.pool,
            seconds,
        )


async def taken(worker: Worker) -> Sequence[Claimed]:
    """Return what a worker gets."""
    assert await worker.claim() == []
    return await worker.claim_kept()


@pytest_asyncio.fixture(loop_scope="session")
async def site(world: World) -> AsyncIterator[OwnSite]:
    """Give a described pool of at most two machines."""
    async with described(world):
        found = OwnSite(world, await world.lead())
        yield found
        found.provider.may_end.set()
        await found.cancel()


async def test_a_job_gets_a_machine_of_its_own_that_goes_with_it(site: OwnSite) -> None:
    batch = await site.own()
    await site.rounds()
    (name,) = await site.machines("creating")
    assert await site.world.states(batch) == "n"
    assert site.provider.machines == [name]
    assert ("create", "a job wants a machine of its own") in await site.log()
    why = await site.world.api.why_job(site.world.caller, batch, 1)
    assert why.machine is not None
    assert why.machine.machine == name
    worker = await site.come(name)
    shared = await site.world.submit(1)
    assert (await worker.beat()).kept
    claimed = await taken(worker)
    assert [(one.batch_id, one.job_id) for one in claimed] == [(batch, 1)]
    await site.rounds()
    assert (await site.known())[name] == "active"
    await worker.start(*claimed)
    await worker.end(*claimed)
    assert await worker.claim() == []
    await site.rounds()
    assert (await site.known())[name] == "deleting"
    await site.drained(worker)
    await site.rounds()

    assert name not in await site.known()
    assert name not in site.provider.machines
    assert await site.world.states(batch) == "s"
    assert await site.world.states(shared) == "r"
    assert ("delete", "its job needs it no more") in await site.log()


async def test_a_job_on_its_own_machine_counts_as_a_start_at_its_rate(site: OwnSite) -> None:
    rows = rows_with(Rate("own", 1, 60), 2)
    rows.shapes = [OWN]
    site.batches.append(await site.world.submit(rows))
    await site.rounds()
    (name,) = await site.machines("creating")
    worker = await site.come(name)
    claimed = await taken(worker)
    await worker.start(*claimed)
    await worker.end(*claimed)
    await visit(site.world, in_s=59)
    await site.rounds()

    assert len(claimed) == 1
    assert await site.world.states(site.batches[-1]) == "sr"
    assert await site.machines("creating") == []


async def test_each_job_gets_one_machine_within_the_maximum(site: OwnSite) -> None:
    batch = await site.own(3)
    await site.rounds(2)

    assert await site.world.states(batch) == "nnr"
    assert len(await site.machines("creating")) == 2
    assert (await site.world.api.get_group(site.world.caller, batch, 0))["n_creating"] == 2


@pytest.mark.parametrize("is_there", [False, True])
async def test_a_cancel_while_the_machine_is_made_wins(site: OwnSite, is_there: bool) -> None:
    batch = await site.own()
    await site.rounds()
    (name,) = site.provider.machines
    worker = await site.come(name) if is_there else None
    await site.world.api.cancel_jobs(site.world.caller, batch, [1])
    assert await site.world.states(batch) == "c"
    if worker is not None:
        assert await taken(worker) == []
    await site.rounds()
    if worker is not None:
        await site.drained(worker)
    await site.rounds(2)

    assert site.provider.machines == []
    assert await site.known() == {}
    assert await site.world.attempts(batch) == []


async def test_a_job_whose_worker_is_lost_gets_another_machine(site: OwnSite) -> None:
    batch, name, worker = await site.begun()
    claimed = await taken(worker)
    await worker.start(*claimed)
    await site.rounds()
    await worker.end(*claimed, reason=Reason.LOST)
    site.begin_term()  # the next machine comes a period later
    await site.rounds(3)
    (other,) = await site.machines("creating")

    assert other != name
    assert (await site.known())[name] == "deleting"
    assert await site.world.states(batch) == "n"


async def test_a_job_whose_machines_do_not_come_ends_as_an_error(site: OwnSite) -> None:
    """After three of them, and not before one of them could have been stale."""
    batch = await site.own()
    site.provider.fails = {"create"}
    for _ in range(3):
        await site.rounds()
        site.begin_term()
        await site.rounds()
    assert await site.world.states(batch) in {"r", "n"}
    await site.age(901)
    site.begin_term()
    await site.rounds(3)
    job = await site.world.api.get_job(site.world.caller, batch, 1)

    assert await site.world.states(batch) == "e"
    assert job["reason"] == Reason.SYSTEM.word
    assert "machines of its own did not come; of the last one: " in job["message"]


async def test_how_many_machines_may_not_come_is_a_setting(site: OwnSite) -> None:
    epoch = await site.world.lead()
    await site.world.driver.configure(epoch, {"own_machine_tries": 1})
    try:
        batch = await site.own()
        await site.rounds()
        await site.age(901)
        await site.rounds(2)

        assert await site.world.states(batch) == "e"
    finally:
        await site.world.driver.configure(await site.world.lead(), {"own_machine_tries": 3})


async def test_a_job_whose_machine_is_being_made_counts_in_the_load_of_its_user(
    site: OwnSite,
) -> None:
    """As one that runs: before the fold, after it, and when it waits no longer."""
    world = site.world

    async def load() -> int | None:
        found: int | None = await world.admin.fetchval(
            "SELECT s.running_m FROM weft.user_share s JOIN weft.pool p USING (pool_id) "
            "WHERE p.name = $1 AND s.user_id = $2",
            world.pool,
            world.caller.user_id,
        )
        return found

    async def share() -> list[int]:
        found: list[int] = await world.admin.fetchval(
            "SELECT (weft._fair_shares(p.pool_id, 1500, 9)).user_ids FROM weft.pool p "
            "WHERE p.name = $1",
            world.pool,
        )
        return found

    other = await world.user("bob")
    await site.own()
    await world.submit(3)
    await world.submit(3, caller=other)
    await world.fold()
    await site.rounds()
    before = await share()
    await world.fold()
    loads = [await load()]
    after = await share()
    await site.cancel()
    await world.fold()
    loads.append(await load())

    assert before == after == [other.user_id, world.caller.user_id]
    assert loads == [1000, 0]


async def test_a_held_job_does_not_start_on_its_machine(site: OwnSite) -> None:
    batch, name, worker = await site.begun()
    await site.world.api.hold_group(site.world.caller, batch, 0)
    assert await taken(worker) == []
    await site.rounds()
    await site.age(901)
    await site.rounds(2)

    assert await site.world.states(batch) == "r"
    assert (await site.known())[name] == "deleting"


async def test_a_machine_that_is_too_small_does_not_get_its_job(site: OwnSite) -> None:
    batch, _, worker = await site.begun(cpu_m=500)

    assert await taken(worker) == []
    assert await site.world.states(batch) == "n"


@pytest.mark.parametrize("has_ended", [False, True])
async def test_the_audit_finds_another_job_on_such_a_machine(
    site: OwnSite, *, has_ended: bool
) -> None:
    batch, name, worker = await site.begun()
    claimed = await taken(worker)
    if has_ended:
        await worker.start(*claimed)
        await worker.end(*claimed)
    moved = "UPDATE weft.machine SET for_job_id = for_job_id + 1 WHERE name = $1"
    found = await site.world.findings_after(moved, name)

    (row,) = found["own_machines_have_jobs"]
    assert (row["batch_id"], row["job_id"], row["machine"]) == (batch, 1, name)


MOST = 3
STEPS = 40


class Story:
    """A site to which random things happen."""

    def __init__(self, site: OwnSite, chance: Random) -> None:
        self.site = site
        self._chance = chance
        self._workers: dict[str, Worker] = {}
        self._running: dict[str, Claimed] = {}

    async def step(self) -> None:
        """Let one thing happen, most often a round."""
        steps = [
            self.round,
            self.round,
            self.round,
            self.submit,
            self.cancel,
            self.come,
            self.come,
            self.claim,
            self.claim,
            self.end,
            self.lose,
            self.age,
            self.break_provider,
            self.die,
            self.forget,
        ]
        await self._chance.choice(steps)()

    async def round(self) -> None:
        await self.site.rounds()

    async def submit(self) -> None:
        await self.site.own(self._chance.randint(1, 3))

    async def cancel(self) -> None:
        if self.site.batches:
            batch = self._chance.choice(self.site.batches)
            await self.site.world.api.cancel_jobs(self.site.world.caller, batch, [1])

    async def come(self) -> None:
        """Let the worker of a machine register, also of one that is to be deleted."""
        if names := sorted(set(self.site.provider.machines) - set(self._workers)):
            name = self._chance.choice(names)
            self._workers[name] = await self.site.come(name)

    async def claim(self) -> None:
        for name, worker in self._workers.items():
            if name not in self._running:
                assert await worker.claim() == []
                for one in await worker.claim_kept():
                    self._running[name] = one

    async def end(self) -> None:
        for name, one in list(self._running.items()):
            if self._chance.random() < 0.5:
                del self._running[name]
                await self._workers[name].end(one)

    async def lose(self) -> None:
        """Let a worker fall silent."""
        if self._workers:
            name = self._chance.choice(sorted(self._workers))
            await self._lost(name)

    async def _lost(self, name: str) -> None:
        worker = self._workers.pop(name)
        if one := self._running.pop(name, None):
            await worker.end(one, reason=Reason.LOST)
        await worker.store.leave(worker.id)

    async def age(self) -> None:
        await self.site.age(self._chance.choice([200, 901]))

    async def break_provider(self) -> None:
        provider = self.site.provider
        provider.fails = set(self._chance.sample(["create", "delete", "list"], 1))
        provider.hangs = set(self._chance.sample(["create", "delete", "list"], 1))
        provider.makes = self._chance.choice([1, 2])

    async def die(self) -> None:
        """Begin a new term, which knows nothing, with a provider that works again."""
        provider = self.site.provider
        provider.fails, provider.hangs, provider.makes = set(), set(), 1
        self.site.begin_term(list_s=0)

    async def forget(self) -> None:
        machines = self.site.provider.machines
        if machines:
            machines.remove(self._chance.choice(machines))

    async def finish(self) -> None:
        """Cancel all jobs, and let the driver clear away what is left."""
        await self.site.cancel()
        for name in list(self._workers):
            await self._lost(name)
        await self.site.world.sweep()
        for _ in range(4):
            await self.die()
            await self.site.rounds()
            await self.site.age(200)


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_nothing_is_leaked_or_forgotten(world: World, seed: int) -> None:
    async with described(world, max_workers=MOST):
        site = OwnSite(world, await world.lead())
        story = Story(site, Random(seed))  # noqa: S311 (no secret)
        await story.submit()
        for _ in range(STEPS):
            await story.step()
            assert sum(name.startswith(world.pool) for name in await site.known()) <= MOST
        assert await world.findings() == {}
        await story.finish()

        assert await site.known() == {}
        assert site.provider.machines == []
        site.provider.may_end.set()
