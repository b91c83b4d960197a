"""How many jobs may wait in a queue, against a model: a set of those that do."""

import random
from typing import Any

import pytest

from store.test_queue_limits import rows_of, save
from store.world import World
from weft.core.errors import QueueFull
from weft.core.states import Reason
from weft.ports.store import Claimed

STEPS = 60
Key = tuple[int, int]


class Queue:
    """The queue `big`, what should wait there, and what one worker runs of all queues."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.random = random.Random(seed)  # noqa: S311 (a test)
        self.most: int | None = None
        self.waiting: set[Key] = set()
        self.children: dict[Key, Key] = {}
        self.running: dict[Key, Claimed] = {}
        self.stopped: set[Key] = set()
        """Running jobs that are cancelled."""
        self.here: set[Key] = set()
        """All that were ever accepted."""
        self.n_refused = 0

    async def limit(self) -> None:
        """Any limit, also one below what waits already; nobody loses a place by that."""
        self.most = self.random.choice([None, 0, 2, 5, 9])
        await save(self.world, max_waiting=self.most)

    async def submit(self) -> None:
        """Some jobs, of which the second may wait for the first."""
        count = self.random.randint(1, 5)
        has_child = count > 1 and self.random.random() < 0.4
        more: dict[str, Any] = {"parents": {2: [1]}} if has_child else {}
        is_full = self.most is not None and len(self.waiting) + count > self.most
        if is_full:
            self.n_refused += 1
            with pytest.raises(QueueFull):
                await self.world.submit(rows_of(self.world, count, **more))
            return
        batch = await self.world.submit(rows_of(self.world, count, **more))
        jobs = {(batch, number) for number in range(1, count + 1)}
        self.waiting |= jobs
        self.here |= jobs
        if more:
            self.children[batch, 1] = (batch, 2)

    async def submit_elsewhere(self) -> None:
        """The default queue has no limit, and its jobs are not counted here."""
        await self.world.submit(self.random.randint(1, 3))

    async def claim(self) -> None:
        for one in await self.worker.claim(self.random.randint(1, 4)):
            self.running[one.batch_id, one.job_id] = one
            self.waiting.discard((one.batch_id, one.job_id))

    async def end(self) -> None:
        """A lost job waits again, however many do: it was accepted."""
        if not self.running:
            return
        key = self.random.choice(sorted(self.running))
        reason = self.random.choice([None, Reason.EXIT, Reason.LOST])
        await self.worker.end(self.running.pop(key), reason=reason)
        is_here = key in self.here and key not in self.stopped
        if reason == Reason.LOST and is_here:
            self.waiting.add(key)
        elif reason is not None and key in self.children:
            self.waiting.discard(self.children[key])

    async def cancel(self) -> None:
        if not self.here:
            return
        key = self.random.choice(sorted(self.here))
        await self.world.api.cancel_jobs(self.world.caller, key[0], [key[1]])
        await self.world.sweep()  # children are the driver's
        if key in self.waiting:
            self.waiting.discard(key)
            if key in self.children:
                self.waiting.discard(self.children[key])
        elif key in self.running:
            self.stopped.add(key)

    async def fold(self) -> None:
        await self.world.fold()

    async def check(self) -> None:
        """The count is exact at every moment, folded or not."""
        found = await self.world.api.list_queues(self.world.caller)
        assert {one["n_waiting"] for one in found if one["name"] == "big"} == {len(self.waiting)}

    async def run(self) -> None:
        self.worker = await self.world.worker()
        await self.limit()
        steps = [self.submit] * 4 + [self.claim, self.end, self.end, self.cancel]
        steps += [self.submit_elsewhere, self.limit, self.fold]
        for _ in range(STEPS):
            await self.random.choice(steps)()
            await self.check()
        for one in self.running.values():
            await self.worker.end(one)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_a_queue_takes_a_submission_if_all_of_it_may_wait(world: World, seed: int) -> None:
    queue = Queue(world, seed)
    await queue.run()

    assert queue.n_refused
