"""What the suites of the api's and the driver's store begin with: tenants, workers and a driver.

An author of adapters subclasses `StoreSite`; the suites say what they do with it.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Final

from weft.core.errors import WeftError
from weft.core.states import Reason
from weft.driver.operations import advance_operation
from weft.ports.store import (
    Caller,
    Claimed,
    ClaimRequest,
    GroupLimits,
    JobRows,
    NewBatch,
    NewGroup,
    Notices,
    Row,
    WorkerStore,
)
from weft.store import ApiStore, DriverStore
from weft.testing.builders import end_report, job_rows

WITHIN_S: Final = 20.0
TRACE_ID: Final = "0" * 32
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
    "weigh_users",
)
"""What the loops of a driver ask of `DriverStore.sweep`."""
MUCH: Final = 10**8
BILLED_S: Final = 0.002
"""How long a job runs, so that it is billed: usage counts whole milliseconds."""
UNKEYED: Final[Mapping[str, Any]] = {
    "idempotency_key": None,
    "digest": b"",
    "trace_id": TRACE_ID,
}
"""Arguments of requests that are not repeated."""
TREE: Final = (
    NewGroup(group_id=1, name="a"),
    NewGroup(group_id=2, parent_id=1, name="b"),
    NewGroup(group_id=3, name="c"),
)
"""The groups /a, /a/b and /c."""


@contextmanager
def refused(error: type[WeftError]) -> Iterator[None]:
    """Expect this error."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


async def led_by(driver: DriverStore) -> int:
    """Let a driver lead, and return its epoch; the one before may need a moment to be gone."""
    async with asyncio.timeout(WITHIN_S):
        while (epoch := await driver.try_lead()) is None:
            pass
    return epoch


class StoreSite(ABC):
    """The place of one test: two new tenants in a database that only the suites use."""

    api: ApiStore
    driver: DriverStore
    """Does not lead yet. Its term is over when the test is."""
    notices: Notices
    caller: Caller
    """Has a billing project `default`, and a queue `default` to `pool`."""
    pool: str
    """The name of a pool of the caller's own."""
    stranger: Caller
    """A user of another tenant, with a project, a queue and a pool of its own."""

    def __init__(self) -> None:
        self._epoch: int | None = None
        self._worker: tuple[WorkerStore, int] | None = None
        self._calls = 0

    @abstractmethod
    async def token(self, *, expired: bool = False) -> str:
        """Return a token of `caller`."""

    @abstractmethod
    async def open_worker(
        self, name: str, *, of_stranger: bool = False
    ) -> tuple[WorkerStore, int]:
        """Register a worker of the caller's pool, or of the stranger's, that may run any number of
        jobs at once. Return its store and its incarnation.
        """

    @abstractmethod
    def open_driver(self) -> AbstractAsyncContextManager[DriverStore]:
        """Open the store of another driver, whose term ends when it is closed."""

    @abstractmethod
    def open_api(self, limits: GroupLimits) -> AbstractAsyncContextManager[ApiStore]:
        """Open the store of another api, with limits of its own."""

    @abstractmethod
    def open_api_away(self) -> AbstractAsyncContextManager[ApiStore]:
        """Open the store of an api whose database cannot be reached."""

    async def submit(
        self, jobs: JobRows | int = 1, *, batch: int | None = None,
        groups: Sequence[NewGroup] = (), **new: Any,  # noqa: ANN401 (fields of NewBatch)
    ) -> int:  # fmt: skip
        """Submit jobs and commit them; return their batch."""
        batch_id, _reserved, _is_new = await self.api.submit(
            self.caller,
            NewBatch(trace_id=TRACE_ID, **new) if batch is None else batch,
            groups,
            job_rows(jobs) if isinstance(jobs, int) else jobs,
            **UNKEYED,
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
        await asyncio.sleep(BILLED_S)
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

    async def remove_old(self) -> None:
        """Let the driver remove all events and all updates that are not committed."""
        epoch = await self.lead()
        async with asyncio.timeout(WITHIN_S):
            while await self.driver.remove_old(epoch, events_keep_s=0, updates_keep_s=0):
                pass

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


class StoreTests:
    """Tests that play at a site. Set it before each of them, as a fixture with `autouse` can."""

    site: StoreSite
