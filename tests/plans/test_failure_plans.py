"""What is read when jobs fail for good, when somebody asks why, by a step of a retry, and by the
driver when it releases blocked jobs.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import end_report, job_rows
from plans.table_reads import Reads, read_by_call, reads
from store.retries import begin, retried
from store.retries import fail as fail_claimed
from store.test_crowds import listed
from store.test_resubmissions import ask
from store.test_retry_with import LIMITS_MS, timed
from store.world import Worker, World
from weft.core.states import Reason
from weft.store.database import call_on
from weft.store.end_columns import end_columns

pytestmark = pytest.mark.slow
TABLES = ("job", "attempt", "dead_letter", "failure_cause", "failure_delta")


def scanned(found: dict[str, Reads]) -> list[str]:
    return [table for table, read in found.items() if read.scans]


async def fail(world: World, n_jobs: int, limit: int = 1_000) -> int:
    """Let the jobs of a batch fail for three causes, in several calls."""
    batch = await world.submit(n_jobs)
    worker = await world.worker(f"w{batch}")
    while claimed := await worker.claim(limit):
        ends = [
            end_report(one, Reason.EXIT, exit_code=1, message="abc"[one.job_id % 3])
            for one in claimed
        ]
        await worker.store.complete_attempts(worker.id, ends)
    return batch


async def test_failure_looks_for_its_own_letter_only(own_world: World) -> None:
    """Also if the plan was made when nothing had failed, and any index was as good."""
    await own_world.submit(500)
    worker, claimed = await own_world.claim(500)
    connection = await own_world.connect("weft_worker")
    async with reads(connection, *TABLES) as found:
        for first in range(0, 500, 50):
            ends = [end_report(one, Reason.EXIT) for one in claimed[first : first + 50]]
            await call_on(
                connection, "complete_attempts", incarnation_id=worker.id, **end_columns(ends)
            )
        by_cause = await connection.fetchval(
            "SELECT pg_stat_get_xact_numscans('weft.dead_letter_cause_idx'::regclass)"
        )

    assert scanned(found) == []
    assert by_cause == 0
    assert found["attempt"].rows_by_index <= 1_000
    assert found["job"].rows_by_index <= 5_000


async def test_success_reads_no_failures(own_world: World) -> None:
    await fail(own_world, 100)
    await own_world.submit(50)
    worker, claimed = await own_world.claim(50)
    columns = end_columns([end_report(one) for one in claimed])
    _, found = await read_by_call(
        own_world, "weft_worker", TABLES, "complete_attempts", incarnation_id=worker.id, **columns
    )

    assert columns["causes"] is None
    for table in ("dead_letter", "failure_cause", "failure_delta"):
        assert found[table] == Reads(0, 0, 0, 0)


async def test_lists_read_a_page(own_world: World) -> None:
    """Of the cause that is asked for, from the key on, however many failures there are."""
    await fail(own_world, 300)
    batch = await fail(own_world, 3_000)
    found = await own_world.api.list_causes(own_world.caller, batch, show_all=False, limit=9)
    cause_id = int(found["causes"][0]["cause"], 16)
    await fail(own_world, 300)
    wanted: dict[str, Any] = {
        "tenant_id": own_world.caller.tenant_id,
        "of_batch_id": batch,
        "of_cause_id": cause_id,
        "of_reason": None,
        "of_acknowledged": False,
        "after_batch": batch,
        "after_cause": cause_id,
        "after_job": 900,
        "limit_rows": 50,
    }
    everywhere = dict.fromkeys(("of_batch_id", "of_cause_id", "after_batch", "after_cause"))
    for given in (wanted, {**wanted, **everywhere, "after_job": None}):
        rows, read = await read_by_call(
            own_world, "weft_api", TABLES, "list_dead_letters", **given
        )

        assert len(rows) == 50
        assert not {*scanned(read)} & {"dead_letter", "job", "attempt"}
        assert read["dead_letter"].rows_by_index <= 150
        assert read["job"].rows_by_index <= 100
        assert read["attempt"].rows_by_index <= 100


async def test_causes_read_one_example_each(own_world: World) -> None:
    """However many jobs failed for them, and however many causes other batches have."""
    await fail(own_world, 300)
    batch = await fail(own_world, 3_000)
    (row,), found = await read_by_call(
        own_world,
        "weft_api",
        TABLES,
        "list_causes",
        tenant_id=own_world.caller.tenant_id,
        batch_id=batch,
        show_all=False,
        limit_rows=20,
    )

    assert (row["n_jobs"], row["n_causes"]) == (3_000, 3)
    assert scanned(found) == []
    assert found["dead_letter"].rows_by_index <= 10
    assert found["job"].rows_by_index <= 10


RETRY_TABLES = (
    "job",
    "edge",
    "cascade",
    "job_change",
    "job_label",
    "attempt",
    "ready_job",
    "event",
)


async def fail_parents(world: World, count: int) -> int:
    """Return a batch of 1,000 jobs with a child each; `count` of them have failed."""
    await world.submit(5_000)
    n_jobs = 2_000
    parents = {job: [job - n_jobs // 2] for job in range(n_jobs // 2 + 1, n_jobs + 1)}
    batch = await world.submit(job_rows(n_jobs, parents=parents, priority=[9] * n_jobs))
    worker = await world.worker()
    await worker.end(*await worker.claim(count), reason=Reason.EXIT, exit_code=1)
    await world.sweep()
    return batch


async def test_step_reads_its_range_and_what_depends_on_it(own_world: World) -> None:
    """However many other jobs and batches there are."""
    batch = await fail_parents(own_world, 100)
    operation = await begin(own_world, batch)
    epoch = await own_world.lead()
    (row,), found = await read_by_call(
        own_world,
        "weft_driver",
        RETRY_TABLES,
        "retry_failed",
        epoch=epoch,
        of_operation_id=operation,
        matching=None,
        looked_upto=None,
        limit_rows=50,
    )

    assert row["retry_failed"] == "moved"
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 1_000
    assert found["edge"].rows_by_index < 500


async def test_step_that_opens_a_range_reads_its_jobs(own_world: World, worker: Worker) -> None:
    """However many others there are, and lie between them."""
    await own_world.submit(5_000)
    batch = await own_world.submit(job_rows(2_000, priority=[0] * 2_000))
    claimed = [one for one in await worker.claim(7_000) if one.batch_id == batch]
    await worker.end(*(one for one in claimed if one.job_id % 4 == 0), reason=Reason.EXIT)
    operation = await begin(own_world, batch)
    epoch = await own_world.lead()
    (row,), found = await read_by_call(
        own_world,
        "weft_driver",
        [*RETRY_TABLES, "runnable", "batch", "queue"],
        "retry_failed",
        epoch=epoch,
        of_operation_id=operation,
        matching=None,
        looked_upto=None,
        limit_rows=100,
    )

    assert row["retry_failed"] == "moved"
    assert await listed(own_world, batch) == 0
    assert [table for table in (*RETRY_TABLES, "runnable") if found[table].scans] == []
    assert found["job"].rows_by_index < 1_500


async def test_cause_is_looked_up_in_its_range(own_world: World) -> None:
    """A step of a retry by cause reads the letters of its range, and the jobs of that cause."""
    await fail(own_world, 300)
    batch = await fail(own_world, 3_000)
    await fail(own_world, 300)
    found = await own_world.api.list_causes(own_world.caller, batch, show_all=False, limit=9)
    operation = await begin(own_world, batch, cause=found["causes"][0]["cause"])
    epoch = await own_world.lead()
    (row,), read = await read_by_call(
        own_world,
        "weft_driver",
        [*RETRY_TABLES, "dead_letter"],
        "retry_failed",
        epoch=epoch,
        of_operation_id=operation,
        matching=None,
        looked_upto=None,
        limit_rows=50,
    )

    assert row["retry_failed"] == "moved"
    assert [table for table, one in read.items() if one.scans] == []
    assert read["dead_letter"].rows_by_index <= 300
    assert read["job"].rows_by_index <= 1_000


@pytest.mark.parametrize("failed", [False, True])
async def test_resubmission_reads_a_page(own_world: World, *, failed: bool) -> None:
    """Of the jobs with their edges, from the last number on."""
    batch = await fail_parents(own_world, 1_000)
    operation = await ask(own_world, batch, failed=failed)
    epoch = await own_world.lead()
    rows, found = await read_by_call(
        own_world,
        "weft_driver",
        [*RETRY_TABLES, "job_spec", "resubmitted_span", "shape"],
        "list_resubmitted",
        epoch=epoch,
        of_operation_id=operation,
        after_job=0,
        limit_rows=50,
    )

    assert len(rows) == 50
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 600
    assert found["edge"].rows_by_index < 200


TABLES_OF_BLOCKED = (
    "job",
    "blocked_job",
    "ready_job",
    "runnable",
    "job_label",
    "attempt",
    "late_job",
    "job_cancel",
)


async def test_step_reads_the_jobs_that_are_due(own_world: World, worker: Worker) -> None:
    """However many others wait for a later date, or are ready; they get a range."""
    batch = await own_world.submit(retried(2_000))
    await fail_claimed(worker, *await worker.claim(2_000))
    await own_world.submit(5_000)
    await own_world.admin.execute(
        "UPDATE weft.blocked_job SET next_at = next_at + interval '1 day' "
        "WHERE batch_id = $1 AND job_id % 10 <> 0",
        batch,
    )
    epoch = await own_world.lead()
    connection = await own_world.connect("weft_driver")
    async with reads(connection, *TABLES_OF_BLOCKED) as found:
        (row,) = await call_on(
            connection,
            "release_blocked",
            epoch=epoch,
            limit_jobs=100,
            at=datetime.now(UTC) + timedelta(minutes=2),
        )
        due = await call_on(connection, "loop_due", epoch=epoch, of_loop="recovery")

    assert row["release_blocked"] == 100
    assert timedelta() < due[0]["loop_due"] <= timedelta(minutes=1)
    assert scanned(found) == []
    assert await listed(own_world, batch) == 0
    assert found["blocked_job"].rows_by_index < 500
    assert found["job"].rows_by_index < 1_000


async def test_end_that_blocks_reads_its_own_job(own_world: World) -> None:
    await own_world.submit(retried(2_000))
    worker, claimed = await own_world.claim(1_000)
    await fail_claimed(worker, *claimed[50:])
    columns = end_columns([end_report(one, Reason.EXIT, exit_code=1) for one in claimed[:50]])
    _, found = await read_by_call(
        own_world,
        "weft_worker",
        TABLES_OF_BLOCKED,
        "complete_attempts",
        incarnation_id=worker.id,
        **columns,
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
        own_world,
        "weft_worker",
        [*TABLES_OF_BLOCKED, "job_array"],
        "list_time_limits",
        batch_ids=[batch] * len(jobs),
        job_ids=jobs,
        attempts=[2] * len(jobs),
    )

    assert {row["limit_ms"] for row in rows} == {LIMITS_MS[1]}
    assert len(rows) == len(jobs)
    assert scanned(found) == []
    assert [found[table].rows_by_index for table in ("job", "attempt")] == [len(jobs)] * 2
    assert found["job_label"].rows_by_index <= len(jobs)
