"""One set of jobs claimed and completed: in the bare queue, by weft's functions, by its store."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

import asyncpg
import msgspec

from weft.bench.conditions import query
from weft.ports.store import Claimed, EndReport
from weft.store import PostgresWorkerStore
from weft.store.database import call_on
from weft.store.worker_store import without_usual

CPU_M, MEMORY_MIB = 1000, 512
"""Of each job."""
RAN_US, SINCE_US = 10_000, 1_000
"""Each attempt ran 10 ms and ended a millisecond ago."""
CPU_MS, PEAK_BYTES, STDOUT_BYTES = 1, 2_000_000, 6


Kind = Literal["bare", "bare_in_one", "weft", "weft_in_two", "store"]


class Order(msgspec.Struct):
    """What to run: the bare queue, weft's functions, or the same through the store's classes.

    The bare queue makes two calls for each set; weft completes one set and claims the next in one
    call, as its agent does. `…_in_one` and `…_in_two` are the other way round.
    """

    kind: Kind
    size: int
    """Jobs a call."""
    start_calls: bool = False
    """Report each start with a call of its own."""
    jobs_max: int | None = None
    """End after about so many jobs; None: when nothing is left. Where one call does both, what was
    claimed last stays claimed."""


Turn = Callable[[], Awaitable[int]]
"""Claim and complete one set; return how many jobs, 0: nothing is left."""


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


class _Calls:
    """The functions, called as the store does, without making an object of each row."""

    def __init__(self, connection: asyncpg.Connection, order: Order, incarnation_id: int) -> None:
        self._connection = connection
        self._worker = {"incarnation_id": incarnation_id}
        self._start_calls = order.start_calls
        self._budget = {
            "budget_cpu_m": CPU_M * order.size, "budget_memory_mib": MEMORY_MIB * order.size,
            "limit_jobs": order.size,
        }  # fmt: skip
        self._hints: dict[int, int] = {}

    async def claim(self) -> list[asyncpg.Record]:
        """Claim a set."""
        rows = await self._call("claim_jobs", **self._budget, **self._hint())
        return await self._begun(rows)

    async def complete(self, rows: Sequence[asyncpg.Record]) -> None:
        """Complete a set."""
        await self._call("complete_attempts", **_keys(rows), **_ends(len(rows)))

    async def complete_and_claim(self, rows: Sequence[asyncpg.Record]) -> list[asyncpg.Record]:
        """Complete a set and claim the next."""
        _verdicts, *taken = await self._call(
            "complete_and_claim", **_keys(rows), **_ends(len(rows)), **self._budget, **self._hint()
        )
        return await self._begun(taken)

    async def _begun(self, rows: list[asyncpg.Record]) -> list[asyncpg.Record]:
        if rows:
            self._hints = {rows[-1]["runnable_id"]: rows[-1]["job_id"]}
        if rows and self._start_calls:
            await self._call("start_attempts", **_keys(rows), ages_us=[RAN_US] * len(rows))
        return rows

    def _hint(self) -> dict[str, list[int]]:
        return {"hint_runnable": list(self._hints), "hint_job": list(self._hints.values())}

    async def _call(self, function: str, **arguments: Any) -> list[asyncpg.Record]:  # noqa: ANN401 (what asyncpg can encode)
        return await call_on(self._connection, function, **self._worker, **arguments)


def function_turn(connection: asyncpg.Connection, order: Order, incarnation_id: int) -> Turn:
    """Complete a set and claim the next in one call."""
    calls = _Calls(connection, order, incarnation_id)
    rows: list[asyncpg.Record] = []

    async def turn() -> int:
        nonlocal rows
        rows = rows or await calls.claim()
        count = len(rows)
        if rows:
            rows = await calls.complete_and_claim(rows)
        return count

    return turn


def function_turn_in_two(
    connection: asyncpg.Connection, order: Order, incarnation_id: int
) -> Turn:
    """Claim a set and complete it, with a call for each."""
    calls = _Calls(connection, order, incarnation_id)

    async def turn() -> int:
        rows = await calls.claim()
        if rows:
            await calls.complete(rows)
        return len(rows)

    return turn


def _keys(rows: Sequence[asyncpg.Record]) -> dict[str, list[int]]:
    names = ("batch_ids", "job_ids", "attempts")
    return {name: [row[column] for row in rows] for column, name in enumerate(names)}


def _ends(count: int) -> dict[str, list[Any] | None]:
    ends: dict[str, list[Any]] = {
        "start_ages_us": [RAN_US + SINCE_US] * count, "end_ages_us": [SINCE_US] * count,
        "reasons": [None] * count, "exit_codes": [0] * count, "signals": [None] * count,
        "cpu_mss": [CPU_MS] * count, "memory_peaks": [PEAK_BYTES] * count,
        "stdout_bytess": [STDOUT_BYTES] * count, "stderr_bytess": [0] * count,
        "truncateds": [False] * count, "segments": [1] * count, "offsets": [0] * count,
        "messages": [None] * count,
    }  # fmt: skip
    return without_usual(ends)


def store_turn(store: PostgresWorkerStore, order: Order, incarnation_id: int) -> Turn:
    """Call what the worker's agent calls, with its objects for claims and reports."""
    budget = {
        "budget_cpu_m": CPU_M * order.size, "budget_memory_mib": MEMORY_MIB * order.size,
        "limit_jobs": order.size,
    }  # fmt: skip
    claimed: Sequence[Claimed] = []

    async def turn() -> int:
        nonlocal claimed
        claimed = claimed or await store.claim_jobs(incarnation_id, **budget)
        reports = [_report(one) for one in claimed]
        if reports:
            _, claimed = await store.complete_and_claim(incarnation_id, reports, **budget)
        return len(reports)

    return turn


def _report(one: Claimed) -> EndReport:
    return EndReport(
        batch_id=one.batch_id, job_id=one.job_id, attempt=one.attempt,
        start_age_us=RAN_US + SINCE_US, end_age_us=SINCE_US, reason=None, exit_code=0,
        signal=None, cpu_ms=CPU_MS, memory_peak_bytes=PEAK_BYTES,
        stdout_bytes=STDOUT_BYTES, stderr_bytes=0, truncated=False, segment=1,
        offset=0, message="",
    )  # fmt: skip
