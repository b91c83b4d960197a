"""Why jobs wait is answered from a few rows, however many jobs a batch has."""

import pytest

from builders import job_rows, tree
from plans.table_reads import read_by_call
from store.world import Worker, World
from weft.core.pools import Flavour, Pool
from weft.core.states import Reason

N_JOBS = 20_000
TABLES = ("job", "attempt", "edge", "ready_job", "runnable", "place", "claim")


@pytest.mark.parametrize("gated", [False, True])
async def test_few_rows_are_read(own_world: World, worker: Worker, *, gated: bool) -> None:
    """Of ranges and of jobs behind a gate, for a job, a page of them, a batch and its groups."""
    rows = job_rows(
        N_JOBS,
        group=[number % 2 for number in range(N_JOBS)],
        parents={number: [1] for number in range(N_JOBS // 2, N_JOBS + 1)},
    )
    batch = await own_world.submit(rows, groups=tree("a"), max_running=60 if gated else None)
    await worker.end(*await worker.claim(40), reason=Reason.EXIT)
    await worker.claim(40)
    of = {"tenant_id": own_world.caller.tenant_id, "batch_id": batch}
    for function, arguments, rows_max in (
        ("why_job", {"job_id": 900}, 700),
        ("why_job", {"job_id": N_JOBS}, 700),
        ("why_jobs", {"job_ids": list(range(901, 951))}, 1200),
        ("why_group", {"group_id": 0, "path": None}, 5000),
        ("why_group", {"group_id": None, "path": "/a"}, 5000),
        ("forecast_facts", {"job_id": 0}, 3000),
        ("forecast_facts", {"job_id": 900}, 3000),
    ):
        answers, found = await read_by_call(
            own_world, "weft_api", TABLES, function, **of, **arguments
        )

        assert answers, function
        large = {table: found[table] for table in ("job", "attempt", "edge", "ready_job")}
        assert {table: one.scans for table, one in large.items() if one.scans} == {}, function
        assert sum(one.rows_by_index for one in found.values()) <= rows_max, function


async def test_few_machines_are_read(own_world: World) -> None:
    """Of a pool that has made and deleted many."""
    flavour = Flavour(name="f", cpu_m=1000, memory_mib=512)
    pool = Pool(name=own_world.pool, provider="none", max_workers=5, flavours=(flavour,))
    await own_world.api.save_pools(own_world.caller, [pool])
    await own_world.admin.execute(
        "INSERT INTO weft.machine (pool_id, name, provider, flavour, region, cpu_m, "
        "price_per_hour, pool_max, state, reason, created_at, changed_at, came_at) "
        "SELECT pool_id, 'm' || n, 'none', 'f', '', 1000, 0, 5, "
        "CASE n WHEN 2000 THEN 'creating' ELSE 'deleted' END, '', now(), now(), "
        "CASE WHEN n < 2000 THEN now() END "
        "FROM weft.pool, generate_series(1, 2000) n WHERE name = $1",
        own_world.pool,
    )
    await own_world.admin.execute(
        "INSERT INTO weft.pool_change (pool_id, at, kind, machine, reason) "
        "SELECT pool_id, now(), 'delete', 'm', '' FROM weft.pool, generate_series(1, 1000) "
        "WHERE name = $1",
        own_world.pool,
    )
    batch = await own_world.submit()
    of = {"tenant_id": own_world.caller.tenant_id, "batch_id": batch}
    facts, found = await read_by_call(
        own_world, "weft_api", ["machine", "pool_change"], "why_job", **of, job_id=1
    )

    assert facts[0][0]["pool"]["growth"]["coming"]["usual_s"] == 0
    assert {table: one.scans for table, one in found.items() if one.scans} == {}
    assert found["machine"].rows_by_index <= 30
    assert found["pool_change"].rows_by_index <= 100
