"""Jobs that a worker claims and ends, in sets; some fail, each with a message of its own."""

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from benches.roles import claim_of, driving
from weft.bench.filled_batch import Filler
from weft.bench.plan import BenchFailed
from weft.bench.turns import CPU_MS, PEAK_BYTES, RAN_US, SINCE_US, STDOUT_BYTES, register
from weft.core.states import Reason
from weft.ports.store import Claimed, EndReport
from weft.store import PostgresWorkerStore, open_worker_store

SET: Final = 500
"""Jobs that are claimed and ended in a call."""
BEATS_EVERY: Final = 20
"""Sets between two heartbeats; then nothing runs."""
SAID: Final = (
    "ValueError: row {0} of part {0} is empty",
    "FileNotFoundError: [Errno 2] No such file or directory: '/data/part-{0}.csv'",
    "ConnectionError: host n{0}.example did not answer within 30 s",
)
"""What jobs say that fail: three causes, whatever the number: names of ten characters are ids."""


@asynccontextmanager
async def playing(
    logins: Mapping[str, str], token: str
) -> AsyncIterator[tuple[Filler, PostgresWorkerStore]]:
    """Give who submits and who ends the jobs; a driver runs in this process meanwhile."""
    async with (
        Filler(logins["weft_api"], token) as filler,
        open_worker_store(logins["weft_worker"]) as store,
        driving(logins["weft_driver"]),
    ):
        yield filler, store


async def end_all(store: PostgresWorkerStore, jobs: int, *, fails: Callable[[int], bool]) -> float:
    """Claim all jobs and report their ends; return how many seconds that took."""
    worker = await register(store, "bench", cores=SET)
    n_ended, begun = 0, time.monotonic()
    claimed: Sequence[Claimed] = await store.claim_jobs(worker, claim_of(SET))
    n_sets = 0
    while claimed:
        ends = [_end(one, failed=fails(one.job_id)) for one in claimed]
        await store.complete_attempts(worker, ends)
        n_ended += len(claimed)
        n_sets += 1
        if n_sets % BEATS_EVERY == 0:
            await store.heartbeat(worker, [], draining=False)
        claimed = await store.claim_jobs(worker, claim_of(SET))
    took_s = time.monotonic() - begun
    await store.leave(worker)
    if n_ended != jobs:
        raise BenchFailed(f"{n_ended:,} jobs ended, not {jobs:,}")
    return took_s


def _end(one: Claimed, *, failed: bool) -> EndReport:
    return EndReport(
        batch_id=one.batch_id,
        job_id=one.job_id,
        attempt=one.attempt,
        start_age_us=RAN_US,
        end_age_us=SINCE_US,
        reason=Reason.EXIT if failed else None,
        exit_code=int(failed),
        signal=None,
        cpu_ms=CPU_MS,
        memory_peak_bytes=PEAK_BYTES,
        stdout_bytes=STDOUT_BYTES,
        stderr_bytes=0,
        truncated=False,
        location=None,
        message=SAID[one.job_id % len(SAID)].format(one.job_id) if failed else "",
    )
