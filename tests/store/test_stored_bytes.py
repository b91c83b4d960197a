"""What is stored, against a model: the sums are exact at every moment, and quotas hold."""

import random
from collections import defaultdict
from collections.abc import Awaitable
from typing import Any

import pytest

from builders import job_rows
from store.barriers import set_quota
from store.batch_steps import add, delete, new_batch, open_update, remove
from store.test_byte_quotas import add_payload, forget, specs, stored, wrote
from store.world import Worker, World
from weft.core.errors import QuotaExceeded
from weft.core.states import Reason

STEPS = 60
MOVES = ("submit", "send", "commit", "expire", "payload", "run", "fold", "remove")
WEIGHTS = (2, 2, 1, 1, 1, 1, 1, 1)


class Model:
    """What there must be, and what changes it."""

    def __init__(self, world: World, worker: Worker, seed: int) -> None:
        self.world = world
        self.worker = worker
        self.rng = random.Random(seed)  # noqa: S311 (a test)
        self.most: int | None = None
        self.stored: defaultdict[int, int] = defaultdict(int)
        """Bytes by batch."""
        self.sent: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """By batch, updates that are not committed, and how much their specs take."""
        self.n_refused = 0

    def any_batch(self) -> int | None:
        """Return a batch that there is; None: a new one."""
        return self.rng.choice([None, *self.stored])

    async def take(self, n_bytes: int, call: Awaitable[Any]) -> bool:
        """Do what stores this; return whether it was taken, which must be as the quota says."""
        if self.most is None or sum(self.stored.values()) + n_bytes <= self.most:
            await call
            return True
        self.n_refused += 1
        with pytest.raises(QuotaExceeded):
            await call
        return False

    async def submit(self) -> None:
        rows, batch = job_rows(self.rng.randint(1, 4)), self.any_batch()
        batch = batch or await new_batch(self.world)
        if await self.take(specs(rows), self.world.submit(rows, batch=batch)):
            self.stored[batch] += specs(rows)

    async def send(self) -> None:
        rows, batch = job_rows(self.rng.randint(1, 4)), self.any_batch()
        batch = batch or await new_batch(self.world)
        update = await open_update(self.world, batch, rows.n_jobs)
        if await self.take(specs(rows), add(self.world, batch, update, rows)):
            self.stored[batch] += specs(rows)
            self.sent[batch].append((update.update_id, specs(rows)))

    async def commit(self) -> None:
        if batches := [one for one, updates in self.sent.items() if updates]:
            batch = self.rng.choice(batches)
            update_id, _ = self.sent[batch].pop()
            await self.world.api.commit_update(self.world.caller, batch, update_id)

    async def expire(self) -> None:
        await forget(self.world)
        for batch, updates in self.sent.items():
            self.stored[batch] -= sum(n_bytes for _, n_bytes in updates)
        self.sent.clear()

    async def payload(self) -> None:
        if batch := self.any_batch():
            data = self.rng.randbytes(self.rng.randint(1, 500))
            if await self.take(len(data), add_payload(self.world, batch, data)):
                self.stored[batch] += len(data)

    async def run(self) -> None:
        for one in await self.worker.claim(3):
            stdout, stderr = self.rng.randint(0, 500), self.rng.randint(0, 99)
            reason = self.rng.choice([None, Reason.EXIT, Reason.LOST])
            await wrote(self.worker, one, stdout, stderr, reason=reason)
            self.stored[one.batch_id] += stdout + stderr

    async def fold(self) -> None:
        await self.world.fold()

    async def remove(self) -> None:
        if batch := self.any_batch():
            await remove(self.world, await delete(self.world, batch))
            self.stored.pop(batch)
            self.sent.pop(batch, None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_stored_bytes_are_exact_at_every_moment(world: World, seed: int) -> None:
    model = Model(world, await world.worker(), seed)
    for _ in range(STEPS):
        model.most = model.rng.choice([None, 1000, 3000])
        await set_quota(world, "ada", bytes=model.most)
        (move,) = model.rng.choices(MOVES, WEIGHTS)
        await getattr(model, move)()
        assert await stored(world) == sum(model.stored.values())
    assert model.n_refused
