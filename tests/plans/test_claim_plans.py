"""How a claim and `_has_work` find jobs: the plans of the very statements that they run.

`debug_print_plan` tells the plans to the client as messages, those of statements in functions too.
"""

import asyncio

import asyncpg
import pytest

from builders import job_rows
from plans.test_plans import reads
from store.world import Worker, World
from weft.store.database import call_on

pytestmark = pytest.mark.slow
BUDGET = {"budget_cpu_m": 10**9, "budget_memory_mib": 10**9, "limit_jobs": 10}
CALLS = {"claim_jobs": ("incarnation_id", BUDGET), "_has_work": ("of_incarnation_id", {})}
LAST = "last"


async def plans_of(
    world: World, function: str, incarnation: int, *, is_cordoned: bool = False
) -> list[str]:
    """Call a function on a new connection; return the plans of the statements in it."""
    connection = await world.connect()
    told: list[asyncpg.PostgresLogMessage] = []
    connection.add_log_listener(lambda _, message: told.append(message))
    parameter, budget = CALLS[function]
    await connection.execute("SET client_min_messages = log; SET debug_print_plan = on")
    found = await call_on(connection, function, **{parameter: incarnation}, **budget)
    assert bool(found) != is_cordoned or function == "_has_work"
    await connection.execute(f"DO $$ BEGIN RAISE LOG '{LAST}'; END $$")
    async with asyncio.timeout(60):
        while not told or told[-1].message != LAST:
            await asyncio.sleep(0)
    return [str(one.detail) for one in told if one.message == "plan:"]


@pytest.mark.parametrize("function", ["claim_jobs", "_has_work"])
@pytest.mark.parametrize("listed", [False, True], ids=["range", "listed"])
async def test_may_claim_is_inlined_and_jobs_are_found_by_key(
    own_world: World, function: str, *, listed: bool
) -> None:
    """`_may_claim` is part of the statement, no call; what it calls for few jobs (`_is_cancelled`)
    tells which statement that is.
    """
    await own_world.submit(job_rows(200, priority=int(listed)))
    worker = await own_world.worker()
    oid = dict(
        await own_world.admin.fetch(
            "SELECT p.proname, p.oid FROM pg_proc p WHERE p.pronamespace = 'weft'::regnamespace "
            "UNION ALL SELECT c.relname, c.oid FROM pg_class c WHERE c.relkind = 'i'"
        )
    )
    plans = await plans_of(own_world, function, worker.id)
    asking = [plan for plan in plans if f":funcid {oid['_is_cancelled']} " in plan]
    indexes = ["job_pkey", *(["ready_job_offer_idx"] if listed else [])]

    assert len(asking) == 1
    assert f":funcid {oid['_may_claim']} " not in "".join(plans)
    assert "SEQSCAN" not in asking[0]
    assert "SORT" not in asking[0]
    assert [name for name in indexes if f":indexid {oid[name]} " not in asking[0]] == []


async def test_claim_of_a_cordoned_worker_looks_at_no_work(own_world: World) -> None:
    await own_world.submit(200)
    worker = await own_world.worker()
    await own_world.api.cordon_worker(own_world.caller, "w", own_world.pool, reason=None)
    work = await own_world.admin.fetchval(
        "SELECT array_agg(oid::text) FROM pg_class "
        "WHERE oid = ANY ('{weft.runnable, weft.ready_job, weft.batch}'::regclass[])"
    )
    plans = "".join(await plans_of(own_world, "claim_jobs", worker.id, is_cordoned=True))

    assert ":relid " in plans
    assert [oid for oid in work if f":relid {oid} " in plans] == []


async def explained(world: World, query: str) -> str:
    return "\n".join(row[0] for row in await world.admin.fetch(f"EXPLAIN {query}"))


async def test_claim_finds_switches_by_key_and_those_that_park_by_their_index(
    own_world: World,
) -> None:
    """However many groups of a batch are held, the question is one look into an index."""
    await own_world.admin.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")
    every = await explained(own_world, "SELECT FROM weft._switches(1)")
    parking = await explained(own_world, "SELECT FROM weft._switches(1) s WHERE s.parking")

    assert "group_hold_unswept_idx" in parking
    assert "job_hold" not in parking
    assert "group_hold_pkey" in every
    assert "job_hold_pkey" in every
    assert "Function Scan" not in every + parking


async def test_claim_looks_at_few_of_many_users(own_world: World, worker: Worker) -> None:
    first = await own_world.user("first")
    await own_world.submit(10, caller=first)
    await own_world.fold()
    await own_world.admin.execute(
        "INSERT INTO weft.tenant_user (tenant_id, name) "
        "SELECT $1, 'u' || n FROM generate_series(1, 10000) n", own_world.caller.tenant_id
    )  # fmt: skip
    await own_world.admin.execute(
        "INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight, n_ready, load) "
        "SELECT p.pool_id, u.user_id, u.tenant_id, true, 1, 1, 1000 "
        "FROM weft.tenant_user u, weft.pool p WHERE p.name = $1 AND u.user_id <> $2",
        own_world.pool, first.user_id,
    )  # fmt: skip
    connection = await own_world.connect()
    async with reads(connection, "user_share") as found:
        claimed = await call_on(
            connection, "claim_jobs", incarnation_id=worker.id, budget_cpu_m=4000,
            budget_memory_mib=10**9, limit_jobs=1000,
        )  # fmt: skip

    assert len(claimed) == 4
    assert (found["user_share"].scans, found["user_share"].rows_by_index < 200) == (0, True)
    await own_world.admin.execute("DELETE FROM weft.user_share WHERE load = 1000 AND n_ready = 1")
