"""A look for a billing project or a user by name reads that one, however many a tenant has.

Names are unique without regard to case, and behind the tenant's wall an index serves only what
cannot tell of rows that are not seen: `=`, but not lower().
"""

from typing import Any

import asyncpg
import pytest

from builders import job_rows
from plans.conftest import Analyse
from store.world import World
from weft.ports.store import NewBatch
from weft.store.database import call_on
from weft.store.submission import _batch, job_columns

pytestmark = [pytest.mark.slow, pytest.mark.heavy]
N = 20_000
FILL = (
    (
        "INSERT INTO weft.tenant_user (tenant_id, name) SELECT $1, 'User' || n "
        "FROM generate_series(1, $2::int) n"
    ),
    (
        "INSERT INTO weft.billing_project (tenant_id, name) SELECT $1, 'Project' || n "
        "FROM generate_series(1, $2::int) n"
    ),
)
MEMBER = (
    "INSERT INTO weft.billing_member (project_id, user_id, tenant_id) SELECT p.project_id, $2, $1 "
    "FROM weft.billing_project p WHERE p.tenant_id = $1 ON CONFLICT DO NOTHING"
)
READ = (
    "SELECT sum(greatest(pg_stat_get_xact_tuples_returned(c.oid), "
    "pg_stat_get_xact_tuples_fetched(c.oid)) + CASE c.relkind WHEN 'r' THEN "
    "$1 * pg_stat_get_xact_numscans(c.oid) ELSE 0 END) FROM pg_class c WHERE c.relnamespace = "
    "'weft'::regnamespace AND c.relname ~ '^(billing_project|tenant_user|billing_member)'"
)
"""How many rows of these tables, and entries of their indexes, this transaction has read; a scan
of a table counts for all of its rows.
"""


def _calls(world: World, batch: int) -> list[tuple[str, str, dict[str, Any]]]:
    """Return what looks up a name, by whose rights, and with which arguments."""
    tenant = {"tenant_id": world.caller.tenant_id}
    me = {**tenant, "by_user_id": world.caller.user_id, "by_role": "admin"}
    new = NewBatch(billing_project="pROJECT7")
    limit = {**tenant, "of_batch_id": None, "group_id": None, "path": None, "measure": "cost",
             "patch": {"amount_max": 7}}  # fmt: skip
    submission = {
        **tenant, "user_id": world.caller.user_id, "of_batch_id": None, "batch": _batch(new),
        "groups": None, "new_jobs": 1, "jobs": job_columns(job_rows(1)), "depth_max": 9,
        "groups_max": 9, "trace_id": "", "idempotency_key": None, "digest": b"",
    }  # fmt: skip
    project, user = {"of_name": "pROJECT7"}, {"of_name": "uSER7"}
    return [
        ("submission", "submit", submission),
        ("member", "set_project_member",
         {**tenant, **project, "of_user": "uSER7", "is_member": True}),
        ("project", "change_project", {**tenant, **project, "patch": {}}),
        ("limit of a project", "set_limit", {**limit, **project, "kind": "project"}),
        ("limit of a user", "set_limit", {**limit, **user, "kind": "user"}),
        ("quota", "set_quota", {**tenant, **user, "patch": {"jobs": 7}}),
        ("grant", "share_batch", {**tenant, "batch_id": batch, "of_user": "uSER7",
                                  "permission": 1, "actor": "user ada"}),
        ("role", "set_user_role", {**me, **user, "new_role": "viewer", "may_give": ["user"]}),
        ("new user", "add_user", {**me, "of_name": "uSER0", "of_role": "user",
                                  "token_hash": b"7" * 32, "idempotency_key": None}),
        ("web token", "admit_user", {"of_tenant": world.pool.upper(), **user, "of_role": None,
                                     "may_create": False}),
        ("token", "authenticate", {"token_hash": b"7" * 32, "of_kind": "token"}),
    ]  # fmt: skip


async def _read(
    connection: asyncpg.Connection, function: str, arguments: dict[str, Any]
) -> tuple[list[asyncpg.Record], int]:
    """Call a function; return its rows, and what it read."""
    async with connection.transaction():
        before = await connection.fetchval(READ, N)
        rows = list(await call_on(connection, function, **arguments))
        n = await connection.fetchval(READ, N) - before
    return rows, n


async def test_names_are_looked_up_by_an_index(own_world: World, analyse: Analyse) -> None:
    world, tenant = own_world, own_world.caller.tenant_id
    await world.admin.execute("UPDATE weft.tenant_user SET role = 'admin'")
    batch = await world.submit(1)
    for statement in FILL:
        await world.admin.execute(statement, tenant, N)
    await world.admin.execute(MEMBER, tenant, world.caller.user_id)
    await analyse()
    connection = await world.connect("weft_api")
    await connection.execute("SELECT set_config('weft.user', '', false)")
    found, read = {}, {}
    for name, function, arguments in _calls(world, batch):
        found[name], read[name] = await _read(connection, function, arguments)

    assert {name: n for name, n in read.items() if n > 20} == {}
    assert [name for name, rows in found.items() if not rows] == []
