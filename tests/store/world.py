"""A tenant with a pool, workers and a driver on a real database, to play with."""

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar
from uuid import uuid4

import asyncpg

from builders import end_report, job_rows, run_long_enough, start_report
from store.backend import OF_TIME, Backend, connect
from weft.core.scheduling.lease import Budget
from weft.core.scheduling.offers import Offer
from weft.core.states import Reason
from weft.ports.store import (
    UNKEYED,
    Caller,
    Claimed,
    EndReport,
    Gate,
    HeartbeatAnswer,
    JobRows,
    NewBatch,
    NewGroup,
    Registered,
)
from weft.sql import SqlFile, files_of
from weft.store import PostgresWorkerStore
from weft.store.database import call_on
from weft.store.end_columns import end_columns
from weft.worker.agent.incarnation import ClaimMemory

T = TypeVar("T")
MUCH_CPU_M = 100_000_000
MUCH_MEMORY_MIB = 1_000_000_000

_NEW_TENANT = """
    WITH pool AS (INSERT INTO weft.pool (name) VALUES ($1) RETURNING pool_id),
    tenant AS (INSERT INTO weft.tenant (name) VALUES ($1) RETURNING tenant_id),
    person AS (
        INSERT INTO weft.tenant_user (tenant_id, name) SELECT tenant_id, 'ada' FROM tenant
        RETURNING *),
    project AS (
        INSERT INTO weft.billing_project (tenant_id, name) SELECT tenant_id, 'default' FROM tenant
        RETURNING *),
    member AS (
        INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
        SELECT project_id, user_id, person.tenant_id FROM project, person),
    queue AS (
        INSERT INTO weft.queue (tenant_id, pool_id, name)
        SELECT tenant_id, pool_id, 'default' FROM tenant, pool)
    SELECT tenant_id, user_id FROM person
"""
_ORPHANS = """
    SELECT b AS batch_id, l.orphans, l.states FROM unnest($1::bigint[]) b
    CROSS JOIN LATERAL weft._look_at_jobs(b, 0, 1000000000) l WHERE l.orphans <> '{}'
"""
_OURS = "SELECT batch_id FROM weft.batch WHERE tenant_id = $1"
_NEW_USER = """
    WITH person AS (
        INSERT INTO weft.tenant_user (tenant_id, name) VALUES ($1, $2) RETURNING *)
    INSERT INTO weft.billing_member (project_id, user_id, tenant_id)
    SELECT p.project_id, person.user_id, p.tenant_id FROM weft.billing_project p, person
    WHERE p.tenant_id = person.tenant_id RETURNING user_id
"""


class Worker:
    """One incarnation of a worker."""

    def __init__(
        self, store: PostgresWorkerStore, registered: Registered, facts: Mapping[str, Any]
    ) -> None:
        self.store = store
        self.registered = registered
        self.facts = facts
        self.id = registered.incarnation_id
        self.memory = ClaimMemory(registered.live)

    async def claim(
        self, limit: int = 100, *, cpu_m: int = MUCH_CPU_M, memory_mib: int = MUCH_MEMORY_MIB
    ) -> list[Claimed]:
        """Claim jobs."""
        with self.memory.asking(Budget(cpu_m, memory_mib, limit)) as request:
            claimed = await self.store.claim_jobs(self.id, request)
        self.memory.note(request, claimed)
        return list(claimed)

    async def claim_and_start(self, limit: int = 100, **budget: int) -> list[Claimed]:
        """Claim jobs and report their starts."""
        claimed = await self.claim(limit, **budget)
        await self.start(*claimed)
        return claimed

    async def claim_kept(self, *, cpu_m: int = MUCH_CPU_M) -> list[Claimed]:
        """Claim the job that this worker is kept for, or others that may start before it."""
        with self.memory.asking(Budget(cpu_m, MUCH_MEMORY_MIB, 100)) as request:
            claimed, _ = await self.store.claim_reserved(self.id, request)
        self.memory.note(request, claimed)
        return list(claimed)

    async def claim_passing(self, waiting: Claimed, *, cpu_m: int) -> list[Claimed]:
        """Claim what may start before a job that waits for room here."""
        with self.memory.asking(Budget(cpu_m, MUCH_MEMORY_MIB, 100)) as asked:
            request = replace(asked, passes=(waiting.batch_id, waiting.job_id))
            claimed, _ = await self.store.claim_reserved(self.id, request)
        self.memory.note(request, claimed)
        return list(claimed)

    async def start(self, *claimed: Claimed, age_us: int = 0) -> Sequence[str]:
        """Report starts."""
        return await self.store.start_attempts(
            self.id, [start_report(one, age_us=age_us) for one in claimed]
        )

    async def end(
        self,
        *claimed: Claimed,
        reason: Reason | None = None,
        **more: Any,  # noqa: ANN401 (as end_report)
    ) -> Sequence[str]:
        """Report ends, all for one reason."""
        await run_long_enough()
        return await self.store.complete_attempts(
            self.id, [end_report(one, reason, **more) for one in claimed]
        )

    async def end_and_claim(
        self, reports: Sequence[EndReport], limit: int = 100
    ) -> tuple[Sequence[str], list[Claimed]]:
        """Report ends and claim jobs in one call."""
        with self.memory.asking(Budget(MUCH_CPU_M, MUCH_MEMORY_MIB, limit)) as request:
            verdicts, claimed = await self.store.complete_and_claim(self.id, reports, request)
        self.memory.note(request, claimed)
        return verdicts, list(claimed)

    async def run(self, limit: int = 100, reason: Reason | None = None) -> list[int]:
        """Claim jobs and end them at once; return their numbers."""
        claimed = await self.claim(limit)
        if claimed:
            await self.end(*claimed, reason=reason)
        return [one.job_id for one in claimed]

    async def beat(self, *claimed: Claimed, draining: bool = False) -> HeartbeatAnswer:
        """Send a heartbeat with these attempts."""
        keys = [(one.batch_id, one.job_id, one.attempt) for one in claimed]
        heard = self.memory.heard()
        answer = await self.store.heartbeat(
            self.id, keys, draining=draining, claiming=self.memory.is_claiming, heard=heard
        )
        self.memory.confirm(heard)
        return answer

    async def waits(self, *, takes: bool = False) -> bool:
        """Go to sleep; False: there is work."""
        wait = self.store.wait_to_be_given if takes else self.store.wait_for_work
        return not await wait(self.id)

    async def given(self) -> list[Claimed]:
        """Return what submissions have claimed meanwhile, once."""
        return [*self.memory.take(await self.store.list_given(self.id))]


class World:
    """One tenant with a pool of its own. Its jobs are seen by its workers only."""

    def __init__(self, backend: Backend, stack: AsyncExitStack) -> None:
        self.backend = backend
        self._stack = stack
        self.admin = backend.admin
        self.api = backend.api
        self.driver = backend.driver
        self.caller = Caller(0, 0, "")
        self.pool = f"pool-{uuid4().hex[:8]}"
        self._submitted: list[int] = []
        self.has_made_up = False
        """Rows were inserted past the functions: only batches that were submitted are audited."""

    async def open(self) -> None:
        """Make the tenant."""
        row = await self.admin.fetchrow(_NEW_TENANT, self.pool)
        self.caller = Caller(row["tenant_id"], row["user_id"], "ada")

    async def connect(self, role: str = "admin") -> asyncpg.Connection:
        """Return one more connection, closed at the end."""
        connection = await connect(self.backend.dsns[role])
        self._stack.callback(connection.terminate)
        return connection

    async def user(self, name: str) -> Caller:
        """Add a user to the tenant."""
        user_id = await self.admin.fetchval(_NEW_USER, self.caller.tenant_id, name)
        return Caller(self.caller.tenant_id, user_id, name)

    async def worker(
        self,
        name: str = "w",
        *,
        cpu_m: int = MUCH_CPU_M,
        memory_mib: int = MUCH_MEMORY_MIB,
        incarnation: str | None = None,
        host: str = "here",
        gone: bool = False,
        gpu: int = 0,
        **offers: Offer,
    ) -> Worker:
        """Register a worker."""
        store = self.backend.worker_store()
        facts: dict[str, Any] = {
            "name": name,
            "host": host,
            "pool": self.pool,
            "incarnation": incarnation or uuid4().hex,
            "cpu_m": cpu_m,
            "memory_mib": memory_mib,
            "storage_mib": 1_000_000,
            "gpu": gpu,
            "version": "test",
            "offers": {"executor": ["process", "function"], **offers},
            "same_host_proved_gone": gone,
        }
        return Worker(store, await store.register_worker(**facts), facts)

    async def submit(
        self,
        jobs: JobRows | int = 1,
        *,
        batch: int | None = None,
        groups: Sequence[NewGroup] = (),
        caller: Caller | None = None,
        max_running: int | None = None,
        **new: Any,  # noqa: ANN401 (fields of NewBatch)
    ) -> int:
        """Submit and commit jobs; return their batch."""
        gates = [Gate(kind="max_running", max_places=max_running)] if max_running else []
        batch_id, _reserved, _added_at = await self.api.submit(
            caller or self.caller,
            NewBatch(**{"gates": gates, **new}) if batch is None else batch,
            groups,
            job_rows(jobs) if isinstance(jobs, int) else jobs,
            UNKEYED,
        )
        self._submitted.append(batch_id)
        return batch_id

    async def submit_to_worker(
        self,
        jobs: JobRows | int = 1,
        **new: Any,  # noqa: ANN401 (as submit)
    ) -> tuple[int, Worker]:
        """Submit jobs, then register a worker; return their batch and the worker."""
        return await self.submit(jobs, **new), await self.worker()

    async def claim(self, limit: int = 100) -> tuple[Worker, list[Claimed]]:
        """Register a worker that claims jobs; return it and them."""
        worker = await self.worker()
        return worker, await worker.claim(limit)

    async def claim_and_start(self, limit: int = 100) -> tuple[Worker, list[Claimed]]:
        """Register a worker that claims jobs and starts them; return it and them."""
        worker = await self.worker()
        return worker, await worker.claim_and_start(limit)

    async def submit_and_claim(
        self,
        jobs: JobRows | int = 1,
        *,
        limit: int = 100,
        **new: Any,  # noqa: ANN401 (as submit)
    ) -> tuple[int, Worker, list[Claimed]]:
        """Submit jobs for a worker that claims them; return their batch, the worker, and them."""
        return await self.submit(jobs, **new), *await self.claim(limit)

    async def submit_and_start(
        self,
        jobs: JobRows | int = 1,
        *,
        limit: int = 100,
        **new: Any,  # noqa: ANN401 (as submit)
    ) -> tuple[int, Worker, list[Claimed]]:
        """Submit jobs for a worker that starts them; return what `submit_and_claim` does."""
        return await self.submit(jobs, **new), *await self.claim_and_start(limit)

    async def submit_and_run(
        self,
        jobs: JobRows | int = 1,
        *,
        limit: int = 100,
        reason: Reason | None = None,
        **new: Any,  # noqa: ANN401 (as submit)
    ) -> tuple[int, Worker]:
        """Submit jobs for a worker that runs them; return their batch and the worker."""
        batch_id, worker = await self.submit_to_worker(jobs, **new)
        await worker.run(limit, reason)
        return batch_id, worker

    async def cancel(self, batch_id: int, group_id: int = 0) -> None:
        """Cancel a batch or a group of it, with all that follows."""
        await self.api.cancel_group(self.caller, batch_id, group_id, force=False)
        await self.sweep()

    async def states(self, batch_id: int) -> str:
        """Return the states of all jobs in their order, one letter each: p r R(unning) s f e c."""
        rows = await self.admin.fetch(
            "SELECT state FROM weft.job WHERE batch_id = $1 ORDER BY job_id", batch_id
        )
        return "".join("prqnRbsfec"[row["state"]] for row in rows)

    async def job(self, batch_id: int, job_id: int = 1) -> asyncpg.Record:
        """Return the row of a job."""
        return await self.admin.fetchrow(
            "SELECT * FROM weft.job WHERE batch_id = $1 AND job_id = $2", batch_id, job_id
        )

    async def attempts(self, batch_id: int, job_id: int = 1) -> list[asyncpg.Record]:
        """Return the rows of a job's attempts that have ended."""
        rows: list[asyncpg.Record] = await self.admin.fetch(
            "SELECT * FROM weft.attempt WHERE batch_id = $1 AND job_id = $2 ORDER BY attempt",
            batch_id,
            job_id,
        )
        return rows

    async def counts(self, batch_id: int, group: int | str = 0) -> dict[str, int]:
        """Return the counters of a group that are not 0, as the api shows them."""
        document = await self.api.get_group(self.caller, batch_id, group)
        names = (
            "pending",
            "ready",
            "running",
            "blocked",
            "succeeded",
            "failed",
            "errored",
            "cancelled",
        )
        return {name: document[f"n_{name}"] for name in names if document[f"n_{name}"]}

    async def lead(self) -> int:
        """Return the epoch of the driver."""
        return await self.backend.lead()

    async def fold(self) -> int:
        """Fold the deltas."""
        return (await self.driver.fold_deltas(await self.lead())).deltas

    async def sweep(self, limit: int = 10_000) -> int:
        """Sweep and settle children until nothing is left; return how many jobs were looked at."""
        total, epoch = 0, await self.lead()
        while found := (
            await self.driver.sweep("sweep_cancelled", epoch, limit_jobs=limit)
            + await self.driver.sweep("settle_children", epoch, limit_jobs=limit)
        ):
            total += found
        return total

    async def call(self, function: str, **arguments: Any) -> Any:  # noqa: ANN401 (what the function returns)
        """Call a function as the owner, who may say what time it is (`at`)."""
        return await call_on(self.admin, function, **arguments)

    async def age(self, table: str, *dates: str, by_s: float, **which: object) -> None:
        """Let these dates of the rows that have a value be earlier."""
        ((column, value),) = which.items()
        earlier = ", ".join(f"{date} = {date} - $2 * interval '1 second'" for date in dates)
        await self.admin.execute(
            f"UPDATE weft.{table} SET {earlier} WHERE {column} = $1",  # noqa: S608
            value,
            by_s,
        )

    @asynccontextmanager
    async def transaction(self, role: str = "admin") -> AsyncIterator[asyncpg.Connection]:
        """Give one more connection, in a transaction until the end of a block."""
        connection = await self.connect(role)
        async with connection.transaction():
            yield connection

    @asynccontextmanager
    async def during(
        self,
        role: str,
        function: str,
        **arguments: Any,  # noqa: ANN401 (what the function takes)
    ) -> AsyncIterator[Any]:
        """Call a function in a transaction of a role that is open until the end of a block."""
        async with self.transaction(role) as connection:
            yield await call_on(connection, function, **arguments)

    def claiming(
        self, worker: Worker, limit: int, *, cpu_m: int = MUCH_CPU_M
    ) -> AbstractAsyncContextManager[Any]:
        """Claim jobs in a transaction that is open."""
        return self.during(
            "weft_worker",
            "claim_jobs",
            incarnation_id=worker.id,
            budget_cpu_m=cpu_m,
            budget_memory_mib=MUCH_MEMORY_MIB,
            limit_jobs=limit,
        )

    def during_request(
        self,
        function: str,
        batch_id: int,
        **arguments: Any,  # noqa: ANN401 (as during)
    ) -> AbstractAsyncContextManager[Any]:
        """Call a function of the api about a batch in a transaction that is open."""
        ids = {"tenant_id": self.caller.tenant_id, "batch_id": batch_id}
        return self.during("weft_api", function, **ids, **arguments)

    def ending(
        self, worker: Worker, *claimed: Claimed, reason: Reason | None = None
    ) -> AbstractAsyncContextManager[Any]:
        """Report ends, all for one reason, in a transaction that is open."""
        columns = end_columns([end_report(one, reason) for one in claimed])
        return self.during("weft_worker", "complete_attempts", incarnation_id=worker.id, **columns)

    async def start_waiting(self, call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a call; return it when a connection to this database waits for a lock."""
        task = asyncio.create_task(call)
        await self.until_somebody_waits()
        return task

    async def until_somebody_waits(self, n: int = 1) -> None:
        """Return when a connection to this database, or `n`, wait for a lock."""
        waiting = (
            "SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) "
            "WHERE NOT l.granted AND a.datname = current_database()"
        )
        async with asyncio.timeout(60):
            while await self.admin.fetchval(waiting) < n:
                await asyncio.sleep(0)

    async def _batches(self) -> set[int]:
        """Return our batches, however they came to be."""
        if self.has_made_up:
            return {*self._submitted}
        ours = await self.admin.fetch(_OURS, self.caller.tenant_id)
        return {*self._submitted, *(row["batch_id"] for row in ours)}

    async def _found_in(
        self, batches: set[int], audits: Sequence[SqlFile]
    ) -> dict[str, list[dict[str, Any]]]:
        """Return by check what these audits find, and the driver's patrol."""
        found = await self.backend.findings(batches, audits)
        orphans = await self.admin.fetch(_ORPHANS, list(batches))
        return found | ({"patrol": [dict(row) for row in orphans]} if orphans else {})

    async def findings(self) -> dict[str, list[dict[str, Any]]]:
        """Return by check what the audit finds in our batches, and the driver's patrol: nothing,
        if all is well.
        """
        async with self.admin.transaction(isolation="repeatable_read", readonly=True):
            batches = await self._batches()
            return await self._found_in(batches, files_of("audit"))

    async def findings_after(
        self, change: str, *values: object
    ) -> dict[str, list[dict[str, Any]]]:
        """Return what the audit finds in our batches after a change, which is undone."""
        changing = self.admin.transaction()
        await changing.start()
        await self.admin.execute(change, *values)
        found = await self._found_in(await self._batches(), files_of("audit"))
        await changing.rollback()
        return found

    async def leave_to_audit(self) -> None:
        """Look now for what is late or lost, and let the backend audit the rest with others'."""
        batches = await self._batches()
        assert (found := await self._found_in(batches, OF_TIME)) == {}, found
        test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
        for batch_id in (None, *batches):
            self.backend.tests_of_batches[batch_id].append(test)


@asynccontextmanager
async def open_world(backend: Backend, *, audited_later: bool = False) -> AsyncIterator[World]:
    """Make a world; it is audited at its end, or later with others of the same backend."""
    async with AsyncExitStack() as stack:
        world = World(backend, stack)
        await world.open()
        yield world
        if audited_later:
            await world.leave_to_audit()
        else:
            assert (found := await world.findings()) == {}, found
