"""The PostgreSQL adapter passes the suite of the port `WorkerStore`."""

import pytest

from store.world import Worker, World
from weft.core.attempt_key import AttemptKey
from weft.ports.store import Registered, WorkerStore
from weft.testing.worker_store_suite import WorkerStoreSuite


class TestPostgresWorkerStore(WorkerStoreSuite):
    @pytest.fixture(autouse=True)
    def _in(self, world: World) -> None:
        self.world = world
        self.of_test: Worker | None = None

    async def worker(self, n_jobs: int) -> tuple[WorkerStore, Registered]:
        await self.world.submit(n_jobs)
        self.of_test = await self.world.worker()
        return self.of_test.store, self.of_test.registered

    async def register_again(self) -> Registered:
        assert self.of_test is not None
        return await self.of_test.store.register_worker(**self.of_test.facts)

    async def test_stores_are_told_to_the_incarnation_of_an_attempt_only(self) -> None:
        """A link refuses another one before it asks."""
        store, worker, (one,) = await self.claim(1)
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        assert list(await store.find_stores(worker + 1_000_000, key, ["none"])) == []
