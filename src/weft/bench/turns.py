"""One set of jobs claimed and completed: in the bare queue, by weft's functions, by its store."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import asyncpg
import msgspec

from weft.bench.conditions import query
from weft.ports.store import EndReport, StartReport
from weft.store import PostgresWorkerStore
from weft.store.database import call_on
from weft.store.worker_store import without_usual

CPU_M, MEMORY_MIB = 1000, 512
"""Of each job."""
RAN_US, SINCE_US = 10_000, 1_000
"""Each attempt ran 10 ms and ended a millisecond ago."""
CPU_MS, PEAK_BYTES, STDOUT_BYTES = 1, 2_000_000, 6


class Order(msgspec.Struct):
    """What to run: the bare queue, weft's functions, or the same through the store's classes."""

    kind: Literal["bare", "weft", "store"]
    size: int
    """Jobs a call."""
    start_calls: bool = False
    """Report each start with a call of its own."""
    jobs_max: int | None = None
    """End after about so many jobs; None: when nothing is left."""


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


def function_turn(connection: asyncpg.Connection, order: Order, incarnation_id: int) -> Turn:
    """Call the functions as the store does, without making an object of each row."""
    hints: dict[int, int] = {}

    async def turn() -> int:
        rows = await call_on(
            connection, "claim_jobs", incarnation_id=incarnation_id,
            budget_cpu_m=CPU_M * order.size, budget_memory_mib=MEMORY_MIB * order.size,
            limit_jobs=order.size, hint_runnable=list(hints), hint_job=list(hints.values()),
        )  # fmt: skip
        if not rows:
            return 0
        hints.clear()
        hints[rows[-1]["runnable_id"]] = rows[-1]["job_id"]
        batches, jobs, attempts = ([row[column] for row in rows] for column in range(3))
        keys = {"batch_ids": batches, "job_ids": jobs, "attempts": attempts}
        if order.start_calls:
            ages = [RAN_US] * len(rows)
            await call_on(
                connection, "start_attempts", incarnation_id=incarnation_id, **keys, ages_us=ages
            )
        await call_on(
            connection, "complete_attempts", incarnation_id=incarnation_id, **keys,
            **_ends(len(rows)),
        )  # fmt: skip
        return len(rows)

    return turn


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

    async def turn() -> int:
        claimed = await store.claim_jobs(
            incarnation_id, budget_cpu_m=CPU_M * order.size,
            budget_memory_mib=MEMORY_MIB * order.size, limit_jobs=order.size,
        )  # fmt: skip
        if order.start_calls:
            starts = [
                StartReport(
                    batch_id=one.batch_id, job_id=one.job_id, attempt=one.attempt, age_us=RAN_US
                )
                for one in claimed
            ]
            await store.start_attempts(incarnation_id, starts)
        if claimed:
            ends = [
                EndReport(
                    batch_id=one.batch_id, job_id=one.job_id, attempt=one.attempt,
                    start_age_us=RAN_US + SINCE_US, end_age_us=SINCE_US, reason=None, exit_code=0,
                    signal=None, cpu_ms=CPU_MS, memory_peak_bytes=PEAK_BYTES,
                    stdout_bytes=STDOUT_BYTES, stderr_bytes=0, truncated=False, segment=1,
                    offset=0, message="",
                )
                for one in claimed
            ]  # fmt: skip
            await store.complete_attempts(incarnation_id, ends)
        return len(claimed)

    return turn
