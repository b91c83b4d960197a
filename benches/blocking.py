"""Jobs that run once, ask to wait for something, and exit."""

from typing import Final

import asyncpg

from benches.queries import query
from benches.roles import claim_of
from weft.bench.turns import CPU_MS, PEAK_BYTES, RAN_US, SINCE_US, STDOUT_BYTES
from weft.core.ends.conditions import BLOCKS_EXIT_CODE
from weft.core.states import Reason
from weft.ports.store import Claimed, EndReport
from weft.store import PostgresWorkerStore

SET: Final = 1_000
"""Jobs that are claimed and blocked in a call."""


async def block_some(
    store: PostgresWorkerStore, worker: int, admin: asyncpg.Connection, jobs: int, asking: str
) -> int:
    """Block at most this many ready jobs; return how many.

    `asking`: the query of `benches/sql` that says what they wait for.
    """
    claimed = await store.claim_jobs(worker, claim_of(min(jobs, SET)))
    await admin.execute(query(asking))
    await store.complete_attempts(worker, [_exit(one) for one in claimed])
    return len(claimed)


def _exit(one: Claimed) -> EndReport:
    """Return the report that a job asks to be run later."""
    return EndReport(
        batch_id=one.batch_id,
        job_id=one.job_id,
        attempt=one.attempt,
        start_age_us=RAN_US,
        end_age_us=SINCE_US,
        reason=Reason.EXIT,
        exit_code=BLOCKS_EXIT_CODE,
        signal=None,
        cpu_ms=CPU_MS,
        memory_peak_bytes=PEAK_BYTES,
        stdout_bytes=STDOUT_BYTES,
        stderr_bytes=0,
        truncated=False,
        location=None,
        message="",
    )
