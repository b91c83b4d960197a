"""Machines for one job under all that may happen to drivers, providers, workers and jobs."""

from random import Random

import pytest

from store.pool_rows import described
from store.test_own_machines import OwnSite
from store.world import Worker, World
from weft.core.states import Reason
from weft.ports.store import Claimed

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
            self.round, self.round, self.round, self.submit, self.cancel, self.come, self.come,
            self.claim, self.claim, self.end, self.lose, self.age, self.break_provider,
            self.die, self.forget,
        ]  # fmt: skip
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
