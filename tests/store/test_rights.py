"""Walls: what the login roles may do, and what a tenant can see of another."""

import re
from inspect import getsource

import asyncpg
import pytest

from builders import job_rows, tree
from cases import cases
from store.backend import Backend
from store.world import World, open_world
from weft.core import errors
from weft.core.access.rights import UserRole
from weft.ports.store import UNKEYED, Caller, NewBatch
from weft.sql import files_of, rights_of
from weft.store import ApiStore
from weft.store.database import call_on
from weft.store.driver_store import DriverStore
from weft.store.worker_store import PostgresWorkerStore

LOGINS = ("weft_api", "weft_driver", "weft_worker")


QUERIED = {
    "attempt",
    "batch",
    "batch_update",
    "billing_project",
    "bunch",
    "bunch_count",
    "fold",
    "group_ancestor",
    "group_cancel",
    "group_completion",
    "group_count",
    "group_usage",
    "job",
    "job_array",
    "job_delta",
    "job_label",
    "member_span",
    "pool",
    "queue",
    "product",
    "rate",
    "ready_job",
    "runnable",
    "shape",
    "tenant_user",
    "worker",
    "worker_incarnation",
}
"""Tables that queries read, behind the wall where a row has a tenant."""


@pytest.mark.parametrize("role", LOGINS)
async def test_login_roles_read_what_queries_need_and_touch_nothing(
    world: World, role: str
) -> None:
    rows = await world.admin.fetch(
        "SELECT c.relname, p "
        "FROM pg_class c, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', "
        "'TRUNCATE', 'REFERENCES', 'TRIGGER']) p WHERE c.relnamespace = 'weft'::regnamespace "
        "AND c.relkind IN ('r', 'v', 'm', 'p') AND has_table_privilege($1, c.oid, p)",
        role,
    )
    connection = await world.connect(role)

    read = set() if role == "weft_worker" else {(table, "SELECT") for table in QUERIED}
    assert {tuple(row) for row in rows} == read
    for statement in (
        "SELECT FROM weft.token",
        "SELECT FROM weft.event",
        "UPDATE weft.job SET state = 6",
        "DELETE FROM weft.tenant",
        "TRUNCATE weft.job",
        "INSERT INTO weft.pool (name) VALUES ('x')",
        "CREATE TABLE weft.mine ()",
        "CREATE FUNCTION weft.mine() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SET ROLE weft_tenant",
        "SET ROLE weft_system",
        "SET SESSION AUTHORIZATION weft_system",
        "ALTER FUNCTION weft.get_batch RENAME TO x",
        "DROP SCHEMA weft CASCADE",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute(statement)


@pytest.mark.parametrize("role", LOGINS)
async def test_login_roles_call_what_is_theirs_only(world: World, role: str) -> None:
    rows = await world.admin.fetch(
        "SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'weft'::regnamespace "
        "AND has_function_privilege($1, p.oid, 'EXECUTE')",
        role,
    )
    granted = {file.name for file in files_of("functions") if role in rights_of(file).granted_to}

    assert {row["proname"] for row in rows} == granted
    assert not {name for name in granted if name.startswith("_")}


STORES = {
    ApiStore: "weft_api",
    DriverStore: "weft_driver",
    PostgresWorkerStore: "weft_worker",
}


def called_by(store: type) -> set[str]:
    """Return the functions that a store calls: those that it declares, and those that its code
    names.
    """
    declared = {
        method.declared[0]
        for name in dir(store)
        if hasattr(method := getattr(store, name), "declared")
    }
    written = {
        word
        for part in store.__mro__
        if part.__module__.startswith("weft.store")
        for word in re.findall(
            r"\b(?:call|value|call_on|call_long)\((?:\s*\w+,)?\s*\"(\w+)\"", getsource(part)
        )
    }
    return declared | written


@pytest.mark.parametrize("store", STORES)
async def test_login_may_call_what_its_store_calls(store: type, world: World) -> None:
    rows = await world.admin.fetch(
        "SELECT p.proname FROM pg_proc p WHERE p.pronamespace = 'weft'::regnamespace "
        "AND has_function_privilege($1, p.oid, 'EXECUTE')",
        STORES[store],
    )
    found = called_by(store)

    assert len(found) > 40
    assert found - {row["proname"] for row in rows} == set()


def test_functions_may_call_what_they_call() -> None:
    """Those that do not take the rights of their owner are called with the rights of whoever calls
    the function that calls them. A path that no other test walks would fail at a user's.
    """
    files = {file.name: file for file in files_of("functions")}
    text = {name: re.sub("--.*", "", file.text) for name, file in files.items()}
    called = {
        name: {*re.findall(r"weft\.(\w+)\(", body)} & files.keys() for name, body in text.items()
    }
    doors = {name for name, body in text.items() if "SECURITY DEFINER" in body}

    def refused(door: str) -> set[str]:
        role, seen, todo = rights_of(files[door]).owner, {door}, [door]
        while todo:
            new = called[todo.pop()] - seen
            seen |= new
            todo += new - doors
        rights = {name: rights_of(files[name]) for name in seen}
        return {name for name, one in rights.items() if role not in {one.owner, *one.granted_to}}

    assert len(doors) > 200
    assert {door: found for door in doors if (found := refused(door))} == {}


async def test_roles_of_functions_own_nothing_else_and_cannot_log_in(world: World) -> None:
    roles = await world.admin.fetch(
        "SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb "
        "FROM pg_roles WHERE rolname LIKE 'weft\\_%'"
    )
    owned = await world.admin.fetch(
        "SELECT relname FROM pg_class WHERE relnamespace = 'weft'::regnamespace "
        "AND pg_get_userbyid(relowner) LIKE 'weft\\_%'"
    )
    members = await world.admin.fetch(
        "SELECT pg_get_userbyid(m.roleid) AS role, pg_get_userbyid(m.member) AS member "
        "FROM pg_auth_members m WHERE pg_get_userbyid(m.roleid) LIKE 'weft\\_%' "
        "OR pg_get_userbyid(m.member) LIKE 'weft\\_%'"
    )
    may_log_in = {row["rolname"] for row in roles if row["rolcanlogin"]}

    assert may_log_in == set(LOGINS)
    assert not any(any(row[2:]) for row in roles)
    assert owned == []
    # It sees since when transactions are open, where whoever migrates may allow that.
    assert {tuple(row) for row in members} <= {("pg_read_all_stats", "weft_system")}


@cases(
    "query",
    [
        # Functions with others' rights that look up names where a caller could put his own.
        """SELECT proname FROM pg_proc WHERE pronamespace = 'weft'::regnamespace AND prosecdef
        AND NOT coalesce(proconfig, '{}') && ARRAY['search_path=pg_catalog, pg_temp']""",
        # Views with the rights of who made them.
        """SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'weft'::regnamespace
        AND c.relkind IN ('v', 'm') AND NOT coalesce(c.reloptions, '{}') &&
        ARRAY['security_invoker=true', 'security_invoker=on']
        AND pg_get_userbyid(c.relowner) <> 'weft_tenant'""",
    ],
)
async def test_nothing_goes_round_the_wall(world: World, query: str) -> None:
    assert await world.admin.fetch(query) == []


async def test_every_table_with_a_tenant_has_its_wall(world: World) -> None:
    rows = await world.admin.fetch(
        "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r' "
        "AND a.attname = 'tenant_id' AND (NOT c.relrowsecurity OR NOT EXISTS "
        "(SELECT FROM pg_policies p WHERE p.tablename = c.relname AND p.roles = '{weft_tenant}'))"
    )
    without = await world.admin.fetch(
        "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'weft'::regnamespace "
        "AND c.relkind = 'r' AND NOT c.relrowsecurity ORDER BY 1"
    )

    assert [row["relname"] for row in rows] == []
    # None of these holds anything of one tenant.
    assert {row["relname"] for row in without} == {
        "attempt_reason",
        "claim",
        "driver_state",
        "event_floor",
        "event_listener",
        "fold",
        "job_state",
        "job_transition",
        "lane",
        "last_audit",
        "migration",
        "pool",
        "rate",
        "rate_card",
        "rate_correction",
        "resource",
        "schema_range",
        "shape",
        "trail_head",
        "worker",
        "worker_change",
        "worker_incarnation",
        "worker_lane",
        "machine_sum",
        "pool_load",
        "worker_sum",
    }


async def test_every_wall_is_the_tenant_of_the_transaction(world: World) -> None:
    """Policies are joined by OR: one that lets more pass opens the wall, or one more does."""
    setting = "(current_setting('weft.tenant'::text))::integer AS current_setting"
    ours = f"(tenant_id = ( SELECT {setting}))"
    open_ = f"({ours} AND (deleted_at IS NULL))"
    who = "SELECT v.tenant_id\n   FROM weft.view_login v\n  WHERE (v.login = SESSION_USER)"
    own = f"(tenant_id = ( {who}))"
    rows = await world.admin.fetch(
        "SELECT DISTINCT policyname, array_to_string(roles, ' ') AS roles, cmd, qual, with_check "
        "FROM pg_policies WHERE schemaname = 'weft' AND roles <> '{weft_system}'"
    )

    assert {tuple(row) for row in rows} == {
        ("tenant_rows", "weft_tenant", "ALL", ours, None),
        ("query_rows", "weft_api weft_driver", "SELECT", ours, None),
        ("query_rows", "weft_api weft_driver", "SELECT", open_, None),
        ("view_rows", "weft_views", "SELECT", own, None),
        ("view_rows", "weft_views", "SELECT", "(login = SESSION_USER)", None),
    }


async def two_tenants(backend: Backend, world: World) -> tuple[World, Caller, int]:
    """Return a world, a caller of another tenant, and a batch of the first."""
    batch = await world.submit(
        job_rows(3, group=[0, 1, 1], parents={3: [1]}, names={1: "secret"}),
        groups=tree("a"),
        name="secret",
    )
    worker, (one, _two) = await world.claim()
    await worker.end(one)
    await world.api.create_update(world.caller, batch, UNKEYED, n_jobs=1, n_groups=1)
    async with open_world(backend) as other:
        return world, other.caller, batch


async def test_caller_with_a_user_of_another_tenant_is_refused(
    backend: Backend, world: World
) -> None:
    async with open_world(backend) as other:
        mixed = Caller(world.caller.tenant_id, other.caller.user_id, "eve")
        with pytest.raises(errors.WeftError):
            await other.api.create_batch(mixed, NewBatch(), UNKEYED)


FORGOTTEN = """
    CREATE FUNCTION weft.forgotten_where(tenant_id int) RETURNS TABLE (what text, n bigint)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    DECLARE v_table text;
    BEGIN
        PERFORM weft._as_tenant(forgotten_where.tenant_id);
        FOR v_table IN
            SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'
              AND a.attname = 'tenant_id'
        LOOP
            RETURN QUERY EXECUTE format(
                'SELECT %L, count(*) FROM weft.%I x WHERE x.tenant_id <> $1', v_table, v_table)
                USING forgotten_where.tenant_id;
        END LOOP;
        BEGIN
            UPDATE weft.batch SET has_edges = NOT has_edges;
            DELETE FROM weft.job_label;
        END;
    END $$;
    ALTER FUNCTION weft.forgotten_where OWNER TO weft_tenant;
    GRANT EXECUTE ON FUNCTION weft.forgotten_where TO weft_api;
"""


async def test_forgotten_where_leaks_and_changes_nothing(own_world: World) -> None:
    world, stranger, batch = await two_tenants(own_world.backend, own_world)
    await world.admin.execute("GRANT CREATE ON SCHEMA weft TO weft_tenant")
    await world.admin.execute(FORGOTTEN)
    api = await world.connect("weft_api")
    for caller in (stranger, world.caller):
        rows = await call_on(api, "forgotten_where", tenant_id=caller.tenant_id)
        if caller is stranger:
            has_edges = await world.admin.fetchval(
                "SELECT has_edges FROM weft.batch WHERE batch_id = $1", batch
            )
            labels = await world.admin.fetchval("SELECT count(*) FROM weft.job_label")
            assert (has_edges, labels) == (True, 1)

        assert len(rows) > 20
        assert {row["what"]: row["n"] for row in rows if row["n"]} == {}


@pytest.mark.parametrize("role", ["weft_api", "weft_driver"])
async def test_login_role_sees_the_tenant_that_it_names_only(
    backend: Backend, world: World, role: str
) -> None:
    await two_tenants(backend, world)
    connection = await world.connect(role)
    rows = await world.admin.fetch(
        "SELECT attrelid::regclass::text AS name FROM pg_attribute WHERE attname = 'tenant_id' "
        "AND attrelid = ANY (SELECT format('weft.%I', t)::regclass FROM unnest($1::text[]) t)",
        sorted(QUERIED),
    )
    tables = [row["name"] for row in rows]
    assert len(tables) == 21
    with pytest.raises(asyncpg.PostgresError):
        await connection.fetch("SELECT FROM weft.batch")
    async with connection.transaction():
        await connection.execute(
            "SELECT set_config('weft.tenant', $1, true)", str(world.caller.tenant_id)
        )
        seen = [
            await connection.fetch(f"SELECT DISTINCT tenant_id FROM {table}")  # noqa: S608 (ours)
            for table in tables
        ]

    assert {row[0] for found in seen for row in found} == {world.caller.tenant_id}


async def test_without_a_tenant_nothing_can_be_read(own_world: World) -> None:
    await own_world.submit()
    async with own_world.admin.transaction():
        await own_world.admin.execute("SET LOCAL ROLE weft_tenant")
        with pytest.raises(asyncpg.PostgresError):
            await own_world.admin.fetch("SELECT FROM weft.batch")


async def test_unknown_and_expired_tokens_are_nobodys(own_world: World) -> None:
    await own_world.call(
        "ensure_local_user", tenant="local", user_name="ada", token_hash=bytes.fromhex(SHA256_OF_T)
    )
    caller = await own_world.api.authenticate("t")
    nobody = await own_world.api.authenticate("u")
    await own_world.admin.execute("UPDATE weft.token SET expires_at = clock_timestamp()")

    assert caller is not None
    assert (caller.user_name, caller.role, nobody) == ("ada", UserRole.ADMIN, None)
    assert await own_world.api.authenticate("t") is None


SHA256_OF_T = "e3b98a4da31a127d4bde6e43033f66ba274cab0eb7eb1c70ec41402bf6273dd8"
