"""What is read when jobs join conditions and leave them: what it concerns, however many wait."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from builders import end_report
from plans.table_reads import read_by_call, reads
from plans.test_failure_plans import scanned
from store.test_conditions import ASK, block, conditions
from store.world import World
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft.store.database import call_on
from weft.store.end_columns import end_columns

pytestmark = pytest.mark.slow
TABLES = (
    "job",
    "blocked_job",
    "ready_job",
    "attempt",
    "job_cancel",
    "condition",
    "condition_delta",
    "block_request",
)
N_JOBS = 1_500


async def fill(world: World) -> int:
    """Block many jobs on one condition, and some on others; return the number of the one."""
    _, worker, claimed = await world.submit_and_claim(N_JOBS + 300, limit=N_JOBS + 300)
    await block(worker, *claimed[300:])
    for number, one in enumerate(claimed[:300]):
        ask = Ask("quota", "tcp", {"host": f"h{number}", "port": "1"})
        assert await worker.store.ask_block(
            worker.id, AttemptKey(one.batch_id, one.job_id, one.attempt), ask
        )
    await worker.end(*claimed[:300], reason=Reason.EXIT, exit_code=75)
    found = await conditions(world)
    return int(next(one["condition_id"] for one in found if one["n_jobs"] == N_JOBS))


async def test_what_is_due_is_read(own_world: World) -> None:
    one = await fill(own_world)
    await own_world.admin.execute(
        "UPDATE weft.condition SET next_test_at = next_test_at + interval '1 day' "
        "WHERE condition_id <> $1",
        one,
    )
    at, epoch = datetime.now(UTC) + timedelta(minutes=1), await own_world.lead()
    connection = await own_world.connect("weft_driver")
    calls: dict[str, dict[str, Any]] = {
        "due_conditions": {"busy": [], "limit_rows": 10, "at": at},
        "loop_due": {"of_loop": "conditions", "busy": [], "limit_rows": 10},
        "postpone_conditions": {"condition_ids": [one], "limit_jobs": 50, "at": at},
        "record_tests": {
            "condition_ids": [one],
            "have_passed": [True],
            "messages": [""],
            "at": at,
        },
        "release_conditions": {"limit_jobs": 1000, "at": at},
    }
    for function, arguments in calls.items():
        async with reads(connection, *TABLES) as found:
            await call_on(connection, function, epoch=epoch, **arguments)
        assert scanned(found) == [], function
        assert found["blocked_job"].rows_by_index < 400, function
        assert found["job"].rows_by_index < 500, function
        assert found["condition"].rows_by_index < 50, function


async def test_page_of_conditions_does_not_read_their_jobs(own_world: World) -> None:
    one = await fill(own_world)
    connection = await own_world.connect("weft_api")
    tenant_id = own_world.caller.tenant_id
    async with reads(connection, *TABLES) as found:
        await call_on(
            connection, "list_conditions", tenant_id=tenant_id, after_id=one, limit_rows=10
        )
        await call_on(
            connection, "get_condition", tenant_id=tenant_id, of_condition_id=one, limit_jobs=5
        )

    assert scanned(found) == []
    assert found["blocked_job"].rows_by_index < 20
    assert found["condition"].rows_by_index < 50
    assert found["condition_delta"].rows_by_index < 50


async def test_end_that_joins_reads_its_own_job(own_world: World) -> None:
    await fill(own_world)
    await own_world.submit(20)
    worker = await own_world.worker("other")
    claimed = await worker.claim(20)
    for one in claimed:
        key = AttemptKey(one.batch_id, one.job_id, one.attempt)
        assert await worker.store.ask_block(worker.id, key, ASK)
    columns = end_columns([end_report(one, Reason.EXIT, exit_code=75) for one in claimed])
    _, found = await read_by_call(
        own_world, "weft_worker", TABLES, "complete_attempts", incarnation_id=worker.id, **columns
    )

    assert scanned(found) == []
    assert found["blocked_job"].rows_by_index < 200
    assert found["job"].rows_by_index < 400
    assert found["condition"].rows_by_index < 50
