"""What the driver reads when it releases blocked jobs, and who blocks them."""

from datetime import UTC, datetime, timedelta

import pytest

from builders import end_report
from plans.table_reads import Reads, read_by_call, reads
from store.retries import fail, retried
from store.test_crowds import listed
from store.test_retry_with import LIMITS_MS, timed
from store.world import Worker, World
from weft.core.states import Reason
from weft.store.database import call_on
from weft.store.end_columns import end_columns

pytestmark = pytest.mark.slow
TABLES = (
    "job", "blocked_job", "ready_job", "runnable", "job_label", "attempt", "late_job",
    "job_cancel",
)  # fmt: skip


def scanned(found: dict[str, Reads]) -> list[str]:
    return [table for table, read in found.items() if read.scans]


async def test_step_reads_the_jobs_that_are_due(own_world: World, worker: Worker) -> None:
    """However many others wait for a later date, or are ready; they get a range."""
    batch = await own_world.submit(retried(2_000))
    await fail(worker, *await worker.claim(2_000))
    await own_world.submit(5_000)
    await own_world.admin.execute(
        "UPDATE weft.blocked_job SET next_at = next_at + interval '1 day' "
        "WHERE batch_id = $1 AND job_id % 10 <> 0",
        batch,
    )
    epoch = await own_world.lead()
    connection = await own_world.connect("weft_driver")
    async with reads(connection, *TABLES) as found:
        (row,) = await call_on(
            connection, "release_blocked", epoch=epoch, limit_jobs=100,
            at=datetime.now(UTC) + timedelta(minutes=2),
        )  # fmt: skip
        due = await call_on(connection, "recovery_due", epoch=epoch)

    assert row["release_blocked"] == 100
    assert timedelta() < due[0]["recovery_due"] <= timedelta(minutes=1)
    assert scanned(found) == []
    assert await listed(own_world, batch) == 0
    assert found["blocked_job"].rows_by_index < 500
    assert found["job"].rows_by_index < 1_000


async def test_end_that_blocks_reads_its_own_job(own_world: World) -> None:
    await own_world.submit(retried(2_000))
    worker, claimed = await own_world.claim(1_000)
    await fail(worker, *claimed[50:])
    columns = end_columns([end_report(one, Reason.EXIT, exit_code=1) for one in claimed[:50]])
    _, found = await read_by_call(
        own_world, "weft_worker", TABLES, "complete_attempts", incarnation_id=worker.id, **columns
    )

    assert scanned(found) == []
    assert found["job"].rows_by_index < 1_000
    assert found["attempt"].rows_by_index < 500


async def test_time_limits_of_retries_are_read_by_key(own_world: World) -> None:
    """Of the attempts that are asked for, with those before them."""
    batch = await own_world.submit(timed(own_world, 2_000))
    worker, claimed = await own_world.claim_and_start(2_000)
    await worker.end(*claimed, reason=Reason.TIMEOUT)
    jobs = [*range(1, 1_001, 50)]
    rows, found = await read_by_call(
        own_world, "weft_worker", [*TABLES, "job_array"], "list_time_limits",
        batch_ids=[batch] * len(jobs), job_ids=jobs, attempts=[2] * len(jobs),
    )  # fmt: skip

    assert {row["limit_ms"] for row in rows} == {LIMITS_MS[1]}
    assert len(rows) == len(jobs)
    assert scanned(found) == []
    assert [found[table].rows_by_index for table in ("job", "attempt")] == [len(jobs)] * 2
    assert found["job_label"].rows_by_index <= len(jobs)
