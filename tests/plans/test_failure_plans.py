"""What is read when jobs fail for good, and when somebody asks why."""

from typing import Any

import pytest

from builders import end_report
from plans.table_reads import Reads, read_by_call, reads
from store.world import World
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
    connection = await own_world.connect("weft_api")
    wanted: dict[str, Any] = {
        "tenant_id": own_world.caller.tenant_id, "of_batch_id": batch, "of_cause_id": cause_id,
        "of_reason": None, "of_acknowledged": False, "after_batch": batch,
        "after_cause": cause_id, "after_job": 900, "limit_rows": 50,
    }  # fmt: skip
    everywhere = dict.fromkeys(("of_batch_id", "of_cause_id", "after_batch", "after_cause"))
    for given in (wanted, {**wanted, **everywhere, "after_job": None}):
        async with reads(connection, *TABLES) as read:
            rows = await call_on(connection, "list_dead_letters", **given)

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
        own_world, "weft_api", TABLES, "list_causes", tenant_id=own_world.caller.tenant_id,
        batch_id=batch, show_all=False, limit_rows=20,
    )  # fmt: skip

    assert (row["n_jobs"], row["n_causes"]) == (3_000, 3)
    assert scanned(found) == []
    assert found["dead_letter"].rows_by_index <= 10
    assert found["job"].rows_by_index <= 10
