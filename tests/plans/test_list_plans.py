"""Every list reads about what it shows, for a user who sees few rows of many in a tenant, and for
a tenant that has few of many in the installation; also by a name or a filter that few rows match.

What is counted are rows of tables and entries of indexes: an entry that is passed over counts.
"""

from dataclasses import dataclass, replace
from typing import Any

import asyncpg
import pytest

from plans.conftest import Analyse
from store.grants import grant, leave, project_of
from store.world import World
from weft.core.access.rights import Permission, UserRole
from weft.core.states import Reason
from weft.ports.store import Caller
from weft.sql import files_of, rights_of
from weft.store.database import call_on

N = 4_000
"""Rows of others in each table."""
MOST = 200
PAGE = 10
TRAIL: dict[str, Any] = dict.fromkeys(
    ("of_user", "of_action", "of_batch_id", "of_number", "since", "before")
)
READ = (
    "SELECT c.relname, greatest(pg_stat_get_xact_tuples_returned(c.oid), "
    "pg_stat_get_xact_tuples_fetched(c.oid)) AS n FROM pg_class c "
    "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind IN ('r', 'i')"
)
_BATCHES = """
    INSERT INTO weft.batch OVERRIDING SYSTEM VALUE
    SELECT (jsonb_populate_record(b, jsonb_build_object('batch_id', b.batch_id + 100000 + n))).*
    FROM weft.batch b, generate_series(1, $2::int) n WHERE b.batch_id = $1
"""
_LIMITS = """
    INSERT INTO weft.spend_limit (tenant_id, batch_id, group_id, amount_max)
    SELECT b.tenant_id, b.batch_id, 0, 5 FROM weft.batch b WHERE b.batch_id > $1
"""
_CAUSES = """
    INSERT INTO weft.failure_cause (batch_id, cause_id, tenant_id, reason, n_jobs, n_acknowledged)
    SELECT b.batch_id, 7, b.tenant_id, 0, 1, 0 FROM weft.batch b WHERE b.batch_id > $1
"""
_SCHEDULES = """
    INSERT INTO weft.schedule (tenant_id, user_id, billing_project, cron, time_zone, missed,
        document, next_at, created_at, digest, project_id)
    SELECT $1, $2, $3::text, '* * * * *', 'UTC', 'skip', '{}', now(), now(), '',
        (SELECT project_id FROM weft.billing_project WHERE tenant_id = $1 AND name_key = lower($3))
    FROM generate_series(1, $4::int) n
"""
_OTHERS = (
    "INSERT INTO weft.tenant (name) SELECT 'other ' || n FROM generate_series(1, $1::int) n",
    (
        "INSERT INTO weft.tenant_user (tenant_id, name) SELECT t.tenant_id, 'ann' FROM "
        "weft.tenant t WHERE t.name LIKE 'other %'"
    ),
    (
        "INSERT INTO weft.pool (name, serves_tenant_id) SELECT 'other ' || t.tenant_id, "
        "t.tenant_id FROM weft.tenant t WHERE t.name LIKE 'other %'"
    ),
    (
        "INSERT INTO weft.worker (pool_id, name, host, cordon_reason) SELECT p.pool_id, 'w', 'h', "
        "'x' FROM weft.pool p WHERE p.serves_tenant_id IS NOT NULL"
    ),
    (
        "INSERT INTO weft.worker_incarnation (worker_id, pool_id, name, version, cpu_m, "
        "memory_mib, storage_mib, gpu, registered_at, heartbeat_at, offers) SELECT w.worker_id, "
        "w.pool_id, w.worker_id || '.x', '1', 1000, 1024, 0, 0, now(), now(), '{}' FROM "
        "weft.worker w WHERE NOT EXISTS (SELECT FROM weft.worker_incarnation i WHERE "
        "i.worker_id = w.worker_id)"
    ),
    (
        "INSERT INTO weft.machine (pool_id, name, flavour, region, provider, cpu_m, "
        "price_per_hour, pool_max, state, reason, created_at, changed_at) SELECT p.pool_id, 'm' "
        "|| n, 'f', '', 'process', 1000, 0, 9, 'active', '', now(), now() FROM weft.pool p, "
        "generate_series(1, $1::int) n WHERE p.name = 'default'"
    ),
    (
        "INSERT INTO weft.queue (tenant_id, pool_id, name, priority) SELECT t.tenant_id, "
        "p.pool_id, 'q', 1 FROM weft.tenant t, weft.pool p WHERE p.name = 'default' AND t.name "
        "LIKE 'other %'"
    ),
    (
        "INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight, running_m, "
        "load) SELECT p.pool_id, u.user_id, u.tenant_id, u.user_id % 2 = 0, 1, 5, u.user_id "
        "FROM weft.pool p, weft.tenant_user u WHERE p.name = 'default'"
    ),
)


# Of the tenant in which much was deleted, and done by others.
_PAST = (
    (
        "INSERT INTO weft.billing_project (tenant_id, name, closed_at, deleted_at) "
        "SELECT $1, 'a' || n, now(), now() FROM generate_series(1, $2::int) n"
    ),
    (
        "INSERT INTO weft.trail_entry (number, request_id, tenant_id, user_name, trace_id, "
        "action, path, at, sealed_at, digest) SELECT n, gen_random_uuid(), $1, CASE WHEN n = 5 "
        "THEN 'bob' ELSE 'ada' END, '', CASE WHEN n = 5 THEN 'rare' ELSE 'often' END, '/', now(), "
        "now(), '' FROM generate_series(1, $2::int) n"
    ),
    (
        "INSERT INTO weft.trail_entry (number, request_id, tenant_id, user_name, trace_id, "
        "action, path, at, sealed_at, digest) SELECT $2 + n, gen_random_uuid(), $1 + 2, 'ada', "
        "'', 'rare', '/', now(), now(), '' FROM generate_series(1, $2::int) n"
    ),
)


@dataclass
class Scene:
    """Others have very much; a user of their tenant, and another tenant, have few."""

    world: World
    bob: Caller
    small: Caller
    batches: list[int]
    """Those in which bob's jobs failed."""
    project: int


async def few_of_a_tenant(world: World) -> Scene:
    """Let a user see few of what others have: own ones, those of a project, granted ones."""
    first = await world.submit(name="n")
    bob = await leave(world, await world.user("bob"))
    project = await project_of(world, "p", bob)
    tenant, ada = world.caller.tenant_id, world.caller.user_id
    batches = [
        await world.submit(caller=bob, name="n", billing_project="p"),
        await world.submit(name="n"),
    ]
    await grant(world, bob, batches[1], Permission.READ)
    worker = await world.worker()
    await worker.end(*await worker.claim(100), reason=Reason.SIGNAL)
    await world.fold()
    while await world.driver.sweep("fold_failures", await world.lead(), limit_jobs=1000):
        pass
    await world.admin.execute(_BATCHES, first, N)
    await world.admin.execute(_LIMITS, 0)
    await world.admin.execute(_CAUSES, first + 1000)
    for statement in _PAST:
        await world.admin.execute(statement, tenant, N)
    for user, name, n in ((ada, "default", N), (bob.user_id, "default", 2), (ada, "P", 2)):
        await world.admin.execute(_SCHEDULES, tenant, user, name, n)
    return Scene(world, bob, bob, batches, project)


async def few_of_an_installation(scene: Scene) -> None:
    """Let a tenant have few of what other tenants have."""
    execute = scene.world.admin.execute
    tenant = await scene.world.admin.fetchval(
        "INSERT INTO weft.tenant (name) VALUES ('small') RETURNING tenant_id"
    )
    for statement in _OTHERS:
        await execute(statement, *((N,) if "$1" in statement else ()))
    users = await scene.world.admin.fetch(
        "INSERT INTO weft.tenant_user (tenant_id, name) SELECT $1, 'u' || n "
        "FROM generate_series(1, 3) n RETURNING user_id",
        tenant,
    )
    scene.small = Caller(tenant, users[0][0], "u1")
    await execute("INSERT INTO weft.pool (name, serves_tenant_id) VALUES ('z small', $1)", tenant)
    await execute(
        "INSERT INTO weft.worker (pool_id, name, host, cordon_reason) SELECT pool_id, 'w', 'h', "
        "'x' FROM weft.pool WHERE name = 'z small'"
    )
    await execute(_OTHERS[4])
    await execute(
        "INSERT INTO weft.user_share (pool_id, user_id, tenant_id, active, weight, running_m, "
        "load) SELECT p.pool_id, u.user_id, u.tenant_id, u.user_id % 2 = 0, 1, 5, 7 FROM "
        "weft.pool p, weft.tenant_user u WHERE p.name = 'default' AND u.tenant_id = $1",
        tenant,
    )
    await execute(_SCHEDULES, tenant, users[0][0], "default", 2)
    await execute(
        "INSERT INTO weft.spend_limit (tenant_id, user_id, amount_max) VALUES ($1, $2, 5)",
        tenant,
        users[0][0],
    )


Calls = dict[str, tuple[str, Caller | None, dict[str, Any], int]]
"""By name: a function, its caller, its arguments, and how many rows there are."""


def calls(scene: Scene) -> Calls:
    return {**calls_in_a_tenant(scene), **calls_in_an_installation(scene)}


def calls_in_a_tenant(scene: Scene) -> Calls:
    """Return the calls of a user who sees few rows, and of operators who look for few."""
    page = {"limit_rows": PAGE}
    bob, boss = scene.bob, replace(scene.world.caller, role=UserRole.OPERATOR)
    limits = {"of_user_id": bob.user_id, "of_batch_id": None, "after": 0, **page}
    letters: dict[str, Any] = dict.fromkeys(
        ("of_batch_id", "of_cause_id", "of_reason", "after_batch", "after_cause", "after_job")
    )
    letters |= {"of_acknowledged": False, **page}
    named = {"before": None, "of_name": "n", "with_hidden": False, **page}
    projects: dict[str, Any] = dict.fromkeys(
        ("of_user_id", "of_name", "of_names", "after_name", "members_max")
    )
    return {
        "own schedules": ("list_schedules", bob, {"after": 0, **page}, 4),
        "limits one sees": ("list_limits", bob, limits, 2),
        "limits on a batch": ("list_limits", bob, {**limits, "of_batch_id": scene.batches[0]}, 1),
        "own dead letters": ("list_dead_letters", bob, letters, 2),
        "acknowledged letters of nobody": (
            "list_dead_letters",
            bob,
            {**letters, "of_acknowledged": True},
            0,
        ),
        "acknowledged letters of the tenant": (
            "list_dead_letters",
            boss,
            {**letters, "of_acknowledged": True},
            0,
        ),
        "letters for a reason": (
            "list_dead_letters",
            boss,
            {**letters, "of_reason": int(Reason.SIGNAL)},
            3,
        ),
        "letters for a cause": ("list_dead_letters", boss, {**letters, "of_cause_id": 5}, 0),
        "batches of a name": ("list_batches", bob, named, 2),
        "projects that are there": ("list_projects", boss, {**projects, **page}, 2),
        "own projects": ("list_projects", bob, {**projects, "of_user_id": bob.user_id, **page}, 1),
        "days of a project": (
            "list_project_days",
            bob,
            {"of_user_id": bob.user_id, "of_name": "p", "before": None, **page},
            1,
        ),
        "trail of a user": ("list_trail", boss, {**TRAIL, "of_user": "bob", **page}, 1),
        "trail of an action": ("list_trail", boss, {**TRAIL, "of_action": "rare", **page}, 1),
    }


def calls_in_an_installation(scene: Scene) -> Calls:
    """Return the calls of an operator of a tenant that has few rows."""
    page = {"limit_rows": PAGE}
    small = replace(scene.small, role=UserRole.OPERATOR)
    pools: dict[str, Any] = {"pools_of_tenant_id": small.tenant_id}
    workers = {**pools, "with_deleted": False, "after_name": None, "after_pool": None, **page}
    share = {"of_pool": "default", "of_user_id": None, "own_tenant": True, **page}
    limits = {"of_user_id": None, "of_batch_id": None, "after": 0, **page}
    return {
        "schedules of a small tenant": ("list_schedules", small, {"after": 0, **page}, 2),
        "limits of a small tenant": ("list_limits", small, limits, 1),
        "trail of a small tenant": ("list_trail", small, {**TRAIL, **page}, 0),
        "queues of a small tenant": (
            "list_queues",
            small,
            {"with_counts": True, "below": None, **page},
            0,
        ),
        "users of a small tenant": ("list_users", small, {"after": 0, **page}, 3),
        "pools of a small tenant": (
            "list_pools",
            None,
            {"of_tenant_id": small.tenant_id, "of_name": None, "after_name": None, **page},
            3,
        ),
        "workers of a small tenant": ("list_workers", small, workers, 2),
        "all workers of a small tenant": (
            "list_workers",
            small,
            {**workers, "with_deleted": True},
            2,
        ),
        "worker of a small tenant": (
            "get_worker",
            small,
            {"pools_of_tenant_id": small.tenant_id, "of_name": "w", "of_pool": "z small"},
            1,
        ),
        "sum of workers of a small tenant": ("sum_workers", None, {**pools, **page}, 1),
        "overview of a small tenant": ("overview", small, pools, 1),
        "machines of a pool": (
            "list_machines",
            None,
            {"of_pool": "default", "pools_of_tenant_id": None, **page},
            PAGE,
        ),
        "shares of a small tenant": (
            "list_shares",
            small,
            {**share, "after_load": None, "after_user": None},
            3,
        ),
    }


async def read_by(
    connection: asyncpg.Connection, function: str, caller: Caller | None, arguments: dict[str, Any]
) -> tuple[int, dict[str, int]]:
    """Call a function; return how many rows it gave, and what it read of each table and index."""
    asked = arguments if caller is None else {"caller": caller, **arguments}
    async with connection.transaction():
        before = dict(await connection.fetch(READ))
        rows = await call_on(connection, function, **asked)
        after = dict(await connection.fetch(READ))
    return len(rows), {name: n - before.get(name, 0) for name, n in after.items()}


ELSEWHERE = {
    "a part of one batch, by its key; who sees the batch sees all of it": (
        "list_attempts list_callbacks list_causes list_child_groups list_children list_edges "
        "list_group_edges list_groups list_job_entries list_job_permissions list_jobs "
        "list_notes list_parent_groups list_parents list_permissions list_sets list_files"
    ),
    "a part of one source, sink or job of a topic, by its key": (
        "list_source_items list_messages list_topic_runs"
    ),
    "few rows of the tenant, for its operators": (
        "list_apps list_dead_messages list_parameters list_sources list_stores list_versions"
    ),
    "rows that are named, by key": "list_allowed list_batch_keys",
    "tests/plans/test_foreign_plans.py": "list_foreign_jobs list_ended_door_jobs",
    "rows of the caller, by key": (
        "list_minutes list_saved_queries list_secrets list_sessions list_tokens"
    ),
    "changes and costs of one pool, by key": "list_pool_changes list_pool_costs",
    "rows of the installation, for its administrators": (
        "list_stale_secrets list_tenants list_whole_trail"
    ),
    "few rows of the installation, for all": "list_licences list_rates list_transports",
    "tests/plans/test_few_of_many_plans.py": "list_operations",
    "tests/plans/test_condition_visibility_plans.py": "list_conditions",
    "tests/plans/test_visibility_plans.py": "list_shared_jobs",
    "each new event once, whoever hears of it": "list_events",
    "open batches of the tenant, when operators move jobs or remove a user, or quotas are shown": (
        "list_open_batches list_quotas list_waiting"
    ),
}
"""Lists that are not among the calls, by why."""


def test_each_list_is_among_the_calls_or_elsewhere() -> None:
    """So that a new one is not forgotten."""
    nobody = Caller(0, 0, "")
    scene = Scene(World.__new__(World), nobody, nobody, [0], 0)
    scene.world.caller = nobody
    lists = {
        file.name
        for file in files_of("functions")
        if file.name.startswith("list_") and "weft_api" in rights_of(file).granted_to
    }
    known = {name for names in ELSEWHERE.values() for name in names.split()}

    assert lists == known | {function for function, *_ in calls(scene).values()} & lists
    assert not known & {function for function, *_ in calls(scene).values()}


@pytest.mark.heavy
async def test_lists_read_what_they_show(own_world: World, analyse: Analyse) -> None:
    scene = await few_of_a_tenant(own_world)
    await few_of_an_installation(scene)
    await analyse()
    connection = await own_world.connect("weft_api")
    found, over = {}, {}
    for name, (function, caller, arguments, _) in calls(scene).items():
        found[name], read = await read_by(connection, function, caller, arguments)
        if more := {table: n for table, n in read.items() if n > MOST}:
            over[name] = more

    assert found == {name: n for name, (_, _, _, n) in calls(scene).items()}
    assert over == {}
