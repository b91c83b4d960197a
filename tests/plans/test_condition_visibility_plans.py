"""A page of conditions reads what it shows, also for one who sees few of very many."""

from typing import Any

import pytest

from plans.conftest import Analyse
from plans.table_reads import read_by_call
from store.grants import grant, join, leave, project_of
from store.world import World
from weft.core.access.rights import Permission
from weft.ports.store import Caller

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
N_CONDITIONS = 20_000
SHARE = 4_000
"""At one condition in this number waits a job of each of the user's batches."""
N_OTHERS = 10_000
"""So many jobs of others wait, too, at the one that is shown."""
TABLES = (
    "condition",
    "condition_batch",
    "condition_delta",
    "blocked_job",
    "batch",
    "batch_grant",
    "billing_member",
)
LARGE = ("condition", "condition_batch", "blocked_job")
_CONDITIONS = """
    INSERT INTO weft.condition (tenant_id, kind, tester, parameters, digest, since, next_test_at)
    SELECT $1, 'quota', 'tcp', '{}', n, now(), now() FROM generate_series(1, $2::int) n
    RETURNING condition_id
"""
_BLOCK = """
    WITH new AS (
        INSERT INTO weft.blocked_job (batch_id, job_id, tenant_id, blocked_at, next_at,
            condition_id)
        SELECT b.batch_id, x.job + $3, b.tenant_id, now(), now() + x.job * interval '1 ms', x.id
        FROM weft.batch b, unnest($2::bigint[]) WITH ORDINALITY x (id, job)
        WHERE b.batch_id = $1 RETURNING batch_id, condition_id)
    INSERT INTO weft.condition_batch (batch_id, condition_id, tenant_id, owner_id, project_id)
    SELECT DISTINCT n.batch_id, n.condition_id, b.tenant_id, b.user_id, b.project_id
    FROM new n JOIN weft.batch b USING (batch_id) ON CONFLICT DO NOTHING
"""


async def fill(world: World) -> tuple[Caller, list[int]]:
    """Let jobs of one user wait at a few of many conditions, by each way in which batches are
    seen; return the user and these conditions, at the first of which many others wait.
    """
    bob = await world.user("bob")
    project = await project_of(world, "p", world.caller)
    others, granted = await world.submit(), await world.submit()
    joint = await world.submit(billing_project="p")
    own = await world.submit(caller=bob)
    bob = await leave(world, bob)
    await join(world, bob, project)
    await grant(world, bob, granted, Permission.READ)
    numbers = [row[0] for row in await world.admin.fetch(_CONDITIONS, bob.tenant_id, N_CONDITIONS)]
    mine = numbers[SHARE - 1 :: SHARE]
    await world.admin.execute(_BLOCK, others, numbers, 0)
    await world.admin.execute(_BLOCK, others, [mine[0]] * N_OTHERS, N_CONDITIONS)
    for batch in (own, joint, granted):
        # Later than the others, who are due first.
        await world.admin.execute(_BLOCK, batch, mine, 100_000)
    return bob, mine


async def test_page_of_who_sees_few_conditions(own_world: World, analyse: Analyse) -> None:
    bob, mine = await fill(own_world)
    await analyse()
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "page": ("list_conditions", {"after_id": 0, "limit_rows": 50}),
        "next page": ("list_conditions", {"after_id": mine[1], "limit_rows": 2}),
        "one": ("get_condition", {"of_condition_id": mine[0], "limit_jobs": 10}),
        "test": ("test_condition", {"of_condition_id": mine[0]}),
        "counts": ("overview_counts", {}),
    }
    read, answers = {}, {}
    for name, (function, arguments) in calls.items():
        rows, found = await read_by_call(
            own_world, "weft_api", TABLES, function, caller=bob, **arguments
        )
        answers[name] = [row[0] for row in rows]
        read[name] = {table: one.rows_by_index + one.rows_scanned for table, one in found.items()}
        assert {table for table in LARGE if found[table].scans} == set(), name

    assert [one["condition_id"] for one in answers["page"]] == mine
    assert [one["condition_id"] for one in answers["next page"]] == mine[2:4]
    assert {one["n_jobs"] for one in answers["page"]} == {3}
    assert len(answers["one"][0]["jobs"]) == 3
    assert answers["counts"][0]["conditions"] == len(mine)
    assert {name: one for name, one in read.items() if max(one.values()) > 200} == {}
    # No job of the world waits for these: leave nothing that the audit could find wrong.
    await own_world.admin.execute("TRUNCATE weft.condition CASCADE")
