"""What a step of a retry reads."""

import pytest

from builders import job_rows
from plans.table_reads import read_by_call
from plans.test_failure_plans import fail
from store.retries import begin
from store.test_crowds import listed
from store.test_resubmissions import ask
from store.world import Worker, World
from weft.core.states import Reason

pytestmark = pytest.mark.slow
TABLES = ("job", "edge", "cascade", "job_change", "job_label", "attempt", "ready_job", "event")


async def test_step_reads_its_range_and_what_depends_on_it(own_world: World) -> None:
    """However many other jobs and batches there are."""
    await own_world.submit(5_000)
    n_jobs = 2_000
    parents = {job: [job - n_jobs // 2] for job in range(n_jobs // 2 + 1, n_jobs + 1)}
    batch = await own_world.submit(job_rows(n_jobs, parents=parents, priority=[9] * n_jobs))
    worker = await own_world.worker()
    await worker.end(*await worker.claim(100), reason=Reason.EXIT, exit_code=1)
    await own_world.sweep()
    operation = await begin(own_world, batch)
    epoch = await own_world.lead()
    (row,), found = await read_by_call(
        own_world, "weft_driver", TABLES, "retry_failed", epoch=epoch, of_operation_id=operation,
        matching=None, looked_upto=None, limit_rows=50,
    )  # fmt: skip

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
        own_world, "weft_driver", [*TABLES, "runnable", "batch", "queue"], "retry_failed",
        epoch=epoch, of_operation_id=operation, matching=None, looked_upto=None, limit_rows=100,
    )  # fmt: skip

    assert row["retry_failed"] == "moved"
    assert await listed(own_world, batch) == 0
    assert [table for table in (*TABLES, "runnable") if found[table].scans] == []
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
        own_world, "weft_driver", [*TABLES, "dead_letter"], "retry_failed", epoch=epoch,
        of_operation_id=operation, matching=None, looked_upto=None, limit_rows=50,
    )  # fmt: skip

    assert row["retry_failed"] == "moved"
    assert [table for table, one in read.items() if one.scans] == []
    assert read["dead_letter"].rows_by_index <= 300
    assert read["job"].rows_by_index <= 1_000


@pytest.mark.parametrize("failed", [False, True])
async def test_resubmission_reads_a_page(own_world: World, *, failed: bool) -> None:
    """Of the jobs with their edges, from the last number on."""
    await own_world.submit(5_000)
    n_jobs = 2_000
    parents = {job: [job - n_jobs // 2] for job in range(n_jobs // 2 + 1, n_jobs + 1)}
    batch = await own_world.submit(job_rows(n_jobs, parents=parents, priority=[9] * n_jobs))
    worker = await own_world.worker()
    await worker.end(*await worker.claim(1_000), reason=Reason.EXIT, exit_code=1)
    await own_world.sweep()
    operation = await ask(own_world, batch, failed=failed)
    epoch = await own_world.lead()
    rows, found = await read_by_call(
        own_world, "weft_driver", [*TABLES, "job_spec", "resubmitted_span", "shape"],
        "list_resubmitted", epoch=epoch, of_operation_id=operation, after_job=0, limit_rows=50,
    )  # fmt: skip

    assert len(rows) == 50
    assert [table for table, read in found.items() if read.scans] == []
    assert found["job"].rows_by_index < 600
    assert found["edge"].rows_by_index < 200
