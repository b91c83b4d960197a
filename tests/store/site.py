"""The place of a test that asks the stores of api and driver: tenants, workers and a driver."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from builders import end_report, job_rows, run_long_enough, tree
from store.backend import Backend
from store.world import World, open_world
from weft.core.states import Reason
from weft.driver.operations import advance_operation
from weft.ports.store import (
    UNKEYED,
    Claimed,
    ClaimRequest,
    JobRows,
    NewBatch,
    NewGroup,
    Row,
    WorkerStore,
)
from weft.store import DriverStore, open_driver_store
from weft.store.notices import PostgresNotices

WITHIN_S: Final = 20.0
SWEEPS: Final = (
    "count_parent_ends",
    "settle_children",
    "sweep_cancelled",
    "sweep_holds",
    "pass_gates",
    "sweep_deadlines",
    "release_blocked",
    "release_conditions",
    "fail_conditions",
    "fold_failures",
    "seal_trail",
    "apply_limits",
    "end_terms",
)
"""What the loops of a driver ask of `DriverStore.sweep`."""
MUCH: Final = 10**8
TREE: Final = tree("a", "a/b", "c")
"""The groups /a, /a/b and /c."""


async def led_by(driver: DriverStore) -> int:
    """Let a driver lead, and return its epoch; the one before may need a moment to be gone."""
    async with asyncio.timeout(WITHIN_S):
        while (epoch := await driver.try_lead()) is None:
            pass
    return epoch


class Site:
    """The place of one test: two new tenants in a database that only such tests use."""

    def __init__(self, world: World, other: World, driver: DriverStore) -> None:
        self._world, self._other = world, other
        self.api = world.api
        self.driver = driver
        """Does not lead yet. Its term is over when the test is."""
        self.notices = PostgresNotices(world.backend.dsns["weft_driver"])
        self.caller, self.pool = world.caller, world.pool
        """A user with a billing project `default`, and a queue `default` to their own pool."""
        self.stranger = other.caller
        """A user of another tenant, with a project, a queue and a pool of its own."""
        self._epoch: int | None = None
        self._worker: tuple[WorkerStore, int] | None = None
        self._calls = 0

    async def open_worker(
        self, name: str, *, of_stranger: bool = False
    ) -> tuple[WorkerStore, int]:
        """Register a worker of the caller's pool, or of the stranger's, that may run any number of
        jobs at once. Return its store and its incarnation.
        """
        worker = await (self._other if of_stranger else self._world).worker(name)
        return worker.store, worker.id

    async def submit(
        self,
        jobs: JobRows | int = 1,
        *,
        batch: int | None = None,
        groups: Sequence[NewGroup] = (),
        **new: Any,  # noqa: ANN401 (fields of NewBatch)
    ) -> int:
        """Submit jobs and commit them; return their batch."""
        batch_id, _reserved, _added_at = await self.api.submit(
            self.caller,
            NewBatch(**new) if batch is None else batch,
            groups,
            job_rows(jobs) if isinstance(jobs, int) else jobs,
            UNKEYED,
        )
        return batch_id

    async def worker(self) -> tuple[WorkerStore, int]:
        """Return the worker `w` of this test."""
        self._worker = self._worker or await self.open_worker("w")
        return self._worker

    async def claim(self, limit_jobs: int = 100) -> Sequence[Claimed]:
        """Claim jobs for the worker."""
        store, incarnation_id = await self.worker()
        self._calls += 1
        request = ClaimRequest(
            budget_cpu_m=MUCH, budget_memory_mib=MUCH, limit_jobs=limit_jobs, call=self._calls
        )
        return await store.claim_jobs(incarnation_id, request)

    async def end(self, *claimed: Claimed, reason: Reason | None = None) -> None:
        """Report ends, all for one reason."""
        store, incarnation_id = await self.worker()
        await store.complete_attempts(incarnation_id, [end_report(one, reason) for one in claimed])

    async def run(self, limit_jobs: int = 100, *, reason: Reason | None = None) -> list[int]:
        """Claim jobs and end them after a moment; return their numbers."""
        claimed = await self.claim(limit_jobs)
        await run_long_enough()
        await self.end(*claimed, reason=reason)
        return [one.job_id for one in claimed]

    async def notice(self, channel: str, *, after: Callable[[], Awaitable[object]]) -> str:
        """Listen, do something, and return the payload of the notice that follows."""
        async with asyncio.timeout(WITHIN_S):
            async for name, payload in self.notices.listen(channel):
                if name:
                    return payload
                await after()
        raise AssertionError

    async def sweep(self, function: str, *, limit_jobs: int = 1000) -> list[int]:
        """Let the driver take one kind of step until nothing is left; return its counts."""
        epoch, counts = await self.lead(), []
        async with asyncio.timeout(WITHIN_S):
            while count := await self.driver.sweep(function, epoch, limit_jobs=limit_jobs):
                counts.append(count)
        return counts

    async def lead(self) -> int:
        """Return the epoch of the driver, which leads from now on."""
        self._epoch = self._epoch or await led_by(self.driver)
        return self._epoch

    async def drive(self) -> None:
        """Let the driver do all that there is to do, except that it sends no callback."""
        epoch = await self.lead()
        async with asyncio.timeout(WITHIN_S):
            while await self._drive(epoch):
                pass

    async def _drive(self, epoch: int) -> bool:
        """Give each loop a turn; return whether any of them did something."""
        moved = (await self.driver.fold_deltas(epoch)).deltas > 0
        for function in SWEEPS:
            moved |= await self.driver.sweep(function, epoch, limit_jobs=1000) > 0
        for operation in await self.driver.running_operations(epoch):
            moved |= await advance_operation(self.driver, epoch, operation)
        return moved

    async def ended(self, operation_id: int) -> Row:
        """Let the driver work until an operation is over; return its document."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                await self.drive()
                document = await self.api.get_operation(self.caller, operation_id)
                if document["state"] != "running":
                    return document


@asynccontextmanager
async def open_site(backend: Backend, *, audited_later: bool) -> AsyncIterator[Site]:
    """Make two tenants; what the test did is audited at the end, once for both."""
    async with (
        open_driver_store(backend.dsns["weft_driver"]) as driver,
        open_world(backend, audited_later=audited_later) as world,
        AsyncExitStack() as stack,
    ):
        other = World(backend, stack)
        await other.open()
        yield Site(world, other, driver)
