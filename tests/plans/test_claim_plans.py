"""How a claim and `_has_work` find jobs: the plans of the very statements that they run."""

import asyncio

import asyncpg
import pytest

from builders import job_rows
from plans.table_reads import read_by_call, reads
from store.world import Worker, World
from weft.core.queues import Queue
from weft.ports.store import NewGroup
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
    own_world: World, worker: Worker, function: str, *, listed: bool
) -> None:
    """`_may_claim` is part of the statement, no call; what it calls for few jobs (`_is_cancelled`)
    tells which statement that is.
    """
    await own_world.submit(job_rows(200, priority=int(listed)))
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


async def test_submission_asks_by_key_what_a_sleeper_runs(own_world: World) -> None:
    await own_world.submit(20_000)
    worker = await own_world.worker()
    await worker.end(*await worker.claim(900))
    pool = await own_world.admin.fetchval("SELECT pool_id FROM weft.worker_incarnation")
    await worker.waits(takes=True)
    async with reads(own_world.admin, "job", "claim") as found:
        await own_world.admin.execute("SELECT weft._give_to_sleeper($1, 0)", pool)

    assert [one.scans for one in found.values()] == [0, 0]
    assert found["job"].rows_by_index < 3000
    assert found["job"].index_scans < 10


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
        "SELECT $1, 'u' || n FROM generate_series(1, 10000) n",
        own_world.caller.tenant_id,
    )
    await own_world.admin.execute(
        "INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight, n_ready, load) "
        "SELECT p.pool_id, u.user_id, u.tenant_id, true, 1, 1, 1000 "
        "FROM weft.tenant_user u, weft.pool p WHERE p.name = $1 AND u.user_id <> $2",
        own_world.pool,
        first.user_id,
    )
    claimed, found = await read_by_call(
        own_world,
        "admin",
        ["user_share"],
        "claim_jobs",
        incarnation_id=worker.id,
        budget_cpu_m=4000,
        budget_memory_mib=10**9,
        limit_jobs=1000,
    )

    assert len(claimed) == 4
    assert (found["user_share"].scans, found["user_share"].rows_by_index < 200) == (0, True)
    await own_world.admin.execute("DELETE FROM weft.user_share WHERE load = 1000 AND n_ready = 1")


async def test_claim_skips_what_others_have_claimed_since_its_hint(own_world: World) -> None:
    """It looks at few of these jobs, and takes none that comes after one which it may have."""
    batch = await own_world.submit(6000)
    worker = await own_world.worker("worker")
    others = await own_world.worker("others", cpu_m=10**7, memory_mib=10**7)
    mine = await worker.claim(10)
    taken = await others.claim(5000)
    await others.end(*taken[2000:2500])
    locker = await own_world.connect()
    async with locker.transaction():
        await locker.execute(
            "SELECT FROM weft.job WHERE batch_id = $1 AND job_id BETWEEN 5011 AND 5200 FOR UPDATE",
            batch,
        )
        rows, found = await read_by_call(
            own_world,
            "weft_worker",
            ["job"],
            "claim_jobs",
            incarnation_id=worker.id,
            **BUDGET,
            hint_runnable=[mine[-1].runnable_id],
            hint_job=[mine[-1].job_id],
        )

    assert (len(taken), [row["job_id"] for row in rows]) == (5000, list(range(5201, 5211)))
    assert found["job"].rows_by_index < 150


async def test_an_old_snapshot_costs_claims_no_pages(own_world: World, worker: Worker) -> None:
    """It keeps all rows that die. A fold moves the place where claims begin behind them."""
    claim = f"SELECT weft.claim_jobs({worker.id}, 1000000000, 1000000000, 10)"
    reader, pages = await own_world.connect(), []
    async with reader.transaction(isolation="repeatable_read"):
        await reader.fetchval("SELECT 1")
        for _ in range(5):
            await own_world.submit(1000)
            plan = await explained(own_world, f"(ANALYZE, BUFFERS) {claim}")
            pages.append(int(plan.partition("shared hit=")[2].split()[0]))
            while await worker.run():
                await own_world.fold()

    assert pages[-1] <= 1.1 * pages[2], pages


N_JOBS = 20_000
TABLES = ("job", "attempt", "ready_job", "batch_update", "job_label")


async def test_only_the_page_and_what_moves_are_read(own_world: World) -> None:
    queues = [Queue(name="to", priority=1, pools=(own_world.pool,)), Queue(name="default")]
    await own_world.api.save_queues(own_world.caller, queues)
    batch = await own_world.submit(N_JOBS)
    await own_world.admin.execute("ANALYZE weft.job, weft.batch, weft.batch_update")
    of = {"tenant_id": own_world.caller.tenant_id}
    asked = {"queue": "to", "pool": own_world.pool}
    moved = {"batch_id": batch, "job_ids": [*range(101, 201)], "asked": asked, "actor": "x"}
    for function, arguments in (
        ("list_waiting", {"after_batch": 0, "after_job": 0, "limit_jobs": 100}),
        ("move_jobs", moved),
    ):
        rows, found = await read_by_call(
            own_world, "weft_api", TABLES, function, **of, **arguments
        )

        assert rows, function
        assert {table: one.scans for table, one in found.items() if one.scans} == {}, function
        assert found["job"].rows_by_index <= 1000, function


N_GROUPS = 2_000


async def test_sweep_reads_the_oldest_cancels_of_each_user(own_world: World) -> None:
    """However many groups a user has cancelled, and however many jobs are in them."""
    groups = [NewGroup(group_id=n, parent_id=0, name=str(n)) for n in range(1, N_GROUPS + 1)]
    rows = job_rows(2 * N_GROUPS, group=[1 + number // 2 for number in range(2 * N_GROUPS)])
    large = await own_world.submit(rows, groups=groups)
    await own_world.admin.execute(
        "INSERT INTO weft.group_cancel "
        "(batch_id, group_id, tenant_id, user_id, cancelled_at, actor, force) "
        "SELECT batch_id, g, tenant_id, user_id, clock_timestamp(), 'x', false "
        "FROM weft.batch, generate_series(1, $2::int) g WHERE batch_id = $1",
        large,
        N_GROUPS,
    )
    bob = await own_world.user("bob")
    small = await own_world.submit(10, caller=bob)
    await own_world.api.cancel_group(bob, small, 0, force=False)
    epoch = await own_world.lead()
    _, found = await read_by_call(
        own_world,
        "weft_driver",
        ["group_cancel", "job", "batch"],
        "sweep_cancelled",
        epoch=epoch,
        limit_jobs=100,
    )

    assert await own_world.states(small) == "c" * 10
    assert [table for table, read in found.items() if read.scans] == []
    assert found["group_cancel"].rows_by_index < 500
    assert found["job"].rows_by_index < 2_000
