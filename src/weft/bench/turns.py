"""One set of jobs claimed and completed: in the bare queue, by weft's functions, by its store. The
parts that a bench plays itself: a worker, and the administrator who audits.
"""

import itertools
import uuid
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, Protocol

import asyncpg
import msgspec

from weft import __version__
from weft.bench.figures import query
from weft.core.scheduling.lease import Budget
from weft.ports.store import Claimed, EndReport, WorkerStore
from weft.store import PostgresWorkerStore, open_admin
from weft.store.database import call_on
from weft.store.end_columns import without_usual
from weft.store.worker_files import location_of
from weft.worker.agent.incarnation import ClaimMemory

CORES = 10_000
"""Of a worker: more than it claims."""
CPU_M, MEMORY_MIB = 1000, 512
"""Of each job."""
RAN_US, SINCE_US = 10_000, 1_000
"""Each attempt ran 10 ms and ended a millisecond ago."""
CPU_MS, PEAK_BYTES, STDOUT_BYTES = 1, 2_000_000, 6


Kind = Literal["bare", "bare_in_one", "weft", "weft_in_two", "store"]


class Order(msgspec.Struct):
    """Variants: the bare queue, weft's functions, or the same through the store's classes.

    The bare queue makes two calls for each set; weft completes one set and claims the next in one
    call, as its agent does. `…_in_one` and `…_in_two` are the other way round.
    """

    kind: Kind
    size: int
    """Jobs a call."""
    cores: int = CORES
    """Of each worker. One that claims more jobs than it has cores keeps a stock of short ones."""
    claimers: int = 1
    """Workers in each process, each with a connection of its own."""
    start_calls: bool = False
    """Report each start with a call of its own."""
    patience_s: float = 0.0
    """End when there was nothing to claim for this time, because others may make room."""
    jobs_max: int | None = None
    """End after about this number of jobs; None: when nothing is left. Where one call completes
    and claims, the last claimed jobs stay claimed."""


Turn = Callable[[], Awaitable[int]]
"""Claim and complete one set; return how many jobs, 0: nothing is left."""


class Work(Protocol):
    """A worker's calls of the functions."""

    async def turn(self) -> int:
        """Claim and complete one set; return how many jobs, 0: nothing is left."""

    async def beat(self) -> None:
        """Send a heartbeat."""


async def bare_turn(connection: asyncpg.Connection, order: Order) -> Turn:
    """Update the one table twice."""
    claim = await connection.prepare(query("bare_claim"))
    complete = await connection.prepare(query("bare_complete"))
    low = 0

    async def turn() -> int:
        nonlocal low
        rows = await claim.fetch(order.size, low)
        if rows:
            ids = [row[0] for row in rows]
            low = min(ids)
            await complete.fetch(ids)
        return len(rows)

    return turn


async def bare_turn_in_one(connection: asyncpg.Connection, order: Order) -> Turn:
    """Update the one table twice in one call: the last set, and the next one."""
    exchange = await connection.prepare(query("bare_exchange"))
    ids: list[int] = []
    low = 0

    async def turn() -> int:
        nonlocal ids, low
        if not ids:
            ids = [row[0] for row in await exchange.fetch(order.size, low, [])]
        count, low = len(ids), min(ids, default=low)
        if ids:
            ids = [row[0] for row in await exchange.fetch(order.size, low, ids)]
        return count

    return turn


class InOneCall:
    """The functions, called as the store does, without making an object of each row: a call that
    completes a set and claims the next.
    """

    def __init__(self, connection: asyncpg.Connection, order: Order, incarnation_id: int) -> None:
        self._connection = connection
        self._worker = {"incarnation_id": incarnation_id}
        self._start_calls = order.start_calls
        self._budget = _budget(order)
        self._hints: dict[int, int] = {}
        self._numbers = itertools.count(1)
        self._heard: list[int] = []
        self._rows: Sequence[asyncpg.Record] = []

    async def turn(self) -> int:
        if not self._rows:
            await self._take(await self._call("claim_jobs", **self._asked()))
        count = len(self._rows)
        if count:
            _verdicts, *rows = await self._call(
                "complete_and_claim", **_keys(self._rows), **_ends(count), **self._asked()
            )
            await self._take(rows)
        return count

    async def beat(self) -> None:
        heard, self._heard = self._heard, []
        await self._call("heartbeat", **_keys(self._rows), draining=False, heard=heard)

    async def _take(self, rows: Sequence[asyncpg.Record]) -> None:
        """Hold what was claimed."""
        self._rows = rows
        if rows:
            self._hints = {rows[-1]["runnable_id"]: rows[-1]["job_id"]}
        if rows and self._start_calls:
            await self._call("start_attempts", **_keys(rows), ages_us=[RAN_US] * len(rows))

    def _asked(self) -> dict[str, Any]:
        """Return the arguments of a claim."""
        number = next(self._numbers)
        self._heard.append(number)
        hints = {"hint_runnable": list(self._hints), "hint_job": list(self._hints.values())}
        return {
            "budget_cpu_m": self._budget.cpu_m,
            "budget_memory_mib": self._budget.memory_mib,
            "limit_jobs": self._budget.jobs,
            **hints,
            "call": number,
        }

    async def _call(self, function: str, **arguments: Any) -> Sequence[asyncpg.Record]:  # noqa: ANN401 (what asyncpg can encode)
        return await call_on(self._connection, function, **self._worker, **arguments)


class InTwoCalls(InOneCall):
    """The same with a call for each."""

    async def turn(self) -> int:
        await self._take(await self._call("claim_jobs", **self._asked()))
        count = len(self._rows)
        if count:
            await self._call("complete_attempts", **_keys(self._rows), **_ends(count))
        self._rows = []
        return count


def _keys(rows: Sequence[asyncpg.Record]) -> dict[str, list[int]]:
    names = ("batch_ids", "job_ids", "attempts")
    return {name: [row[column] for row in rows] for column, name in enumerate(names)}


def _ends(count: int) -> dict[str, list[Any] | None]:
    ends: dict[str, list[Any]] = {
        "start_ages_us": [RAN_US + SINCE_US] * count,
        "end_ages_us": [SINCE_US] * count,
        "reasons": [None] * count,
        "exit_codes": [0] * count,
        "signals": [None] * count,
        "cpu_ms_list": [CPU_MS] * count,
        "memory_peaks": [PEAK_BYTES] * count,
        "stdout_bytes_list": [STDOUT_BYTES] * count,
        "stderr_bytes_list": [0] * count,
        "truncated_list": [False] * count,
        "segments": [1] * count,
        "offsets": [0] * count,
        "messages": [None] * count,
    }
    return without_usual(ends)


class ThroughStore:
    """The calls of the worker's agent, with its objects for claims and reports."""

    def __init__(self, store: PostgresWorkerStore, order: Order, incarnation_id: int) -> None:
        self._store = store
        self._incarnation_id = incarnation_id
        self._budget = _budget(order)
        self._memory = ClaimMemory()
        self._held: Sequence[Claimed] = []

    async def turn(self) -> int:
        if not self._held:
            await self._ask([])
        reports = [report_of(claimed) for claimed in self._held]
        if reports:
            await self._ask(reports)
        return len(reports)

    async def _ask(self, reports: Sequence[EndReport]) -> None:
        with self._memory.asking(self._budget) as request:
            if reports:
                _verdicts, self._held = await self._store.complete_and_claim(
                    self._incarnation_id, reports, request
                )
            else:
                self._held = await self._store.claim_jobs(self._incarnation_id, request)
        self._memory.note(request, self._held)

    async def beat(self) -> None:
        held = [(claimed.batch_id, claimed.job_id, claimed.attempt) for claimed in self._held]
        heard = self._memory.heard()
        await self._store.heartbeat(self._incarnation_id, held, draining=False, heard=heard)
        self._memory.confirm(heard)


def _budget(order: Order) -> Budget:
    return Budget(CPU_M * order.size, MEMORY_MIB * order.size, order.size)


def report_of(claimed: Claimed) -> EndReport:
    """Return the report of an attempt that ended well."""
    return EndReport(
        batch_id=claimed.batch_id,
        job_id=claimed.job_id,
        attempt=claimed.attempt,
        start_age_us=RAN_US + SINCE_US,
        end_age_us=SINCE_US,
        reason=None,
        exit_code=0,
        signal=None,
        cpu_ms=CPU_MS,
        memory_peak_bytes=PEAK_BYTES,
        stdout_bytes=STDOUT_BYTES,
        stderr_bytes=0,
        truncated=False,
        location=location_of(1, 0),
        message="",
    )


async def audit_findings(admin_dsn: str) -> int:
    """Return how many checks of the audit find something."""
    async with open_admin(admin_dsn) as admin:
        return sum(bool(finding.rows) for finding in await admin.audit())


async def register(store: WorkerStore, name: str, *, cores: int) -> int:
    """Register a worker with room for one job of a bench on each core; return its incarnation."""
    registered = await store.register_worker(
        name=name,
        host=name,
        pool="default",
        incarnation=str(uuid.uuid4()),
        cpu_m=CPU_M * cores,
        memory_mib=MEMORY_MIB * cores,
        storage_mib=0,
        gpu=0,
        offers={"executor": ["process", "function"]},
        version=__version__,
        same_host_proved_gone=True,
    )
    return registered.incarnation_id
