"""What names and queries find, and pages of batches in any order, read as much as they show,
however many a tenant has.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import asyncpg
import pytest

from builders import job_rows
from plans.conftest import Analyse
from plans.table_reads import Reads, reads
from store.world import World
from weft.core.access.rights import UserRole
from weft.core.batch_order import BatchOrder, BatchPlace, BatchSort
from weft.core.query import Subject, parse_query
from weft.core.states import Reason
from weft.ports.store import BatchQuery, JobQuery, JobRows, NewBatch, NewGroup, NewSet, QueryLimits
from weft.store.database import call_on
from weft.store.queries import batch_rows, job_ids
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
    limit = {
        **tenant,
        "of_batch_id": None,
        "group_id": None,
        "path": None,
        "measure": "cost",
        "patch": {"amount_max": 7},
    }
    submission = {
        **tenant,
        "user_id": world.caller.user_id,
        "of_batch_id": None,
        "batch": _batch(new),
        "groups": None,
        "new_jobs": 1,
        "jobs": job_columns(job_rows(1)),
        "depth_max": 9,
        "groups_max": 9,
        "trace_id": "",
        "idempotency_key": None,
        "digest": b"",
    }
    project, user = {"of_name": "pROJECT7"}, {"of_name": "uSER7"}
    return [
        ("submission", "submit", submission),
        (
            "member",
            "set_project_member",
            {**tenant, **project, "of_user": "uSER7", "is_member": True},
        ),
        ("project", "change_project", {**tenant, **project, "patch": {}}),
        ("limit of a project", "set_limit", {**limit, **project, "kind": "project"}),
        ("limit of a user", "set_limit", {**limit, **user, "kind": "user"}),
        ("quota", "set_quota", {**tenant, **user, "patch": {"jobs": 7}}),
        (
            "grant",
            "share_batch",
            {
                **tenant,
                "batch_id": batch,
                "of_user": "uSER7",
                "permission": 1,
                "actor": "user ada",
            },
        ),
        ("role", "set_user_role", {**me, **user, "new_role": "viewer", "may_give": ["user"]}),
        (
            "new user",
            "add_user",
            {
                **me,
                "of_name": "uSER0",
                "of_role": "user",
                "token_hash": b"7" * 32,
                "idempotency_key": None,
            },
        ),
        (
            "web token",
            "admit_user",
            {"of_tenant": world.pool.upper(), **user, "of_role": None, "may_create": False},
        ),
        ("token", "authenticate", {"token_hash": b"7" * 32, "of_kind": "token"}),
    ]


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


N_JOBS = 40_000
N_UPDATES = 200
LIMITS = QueryLimits(timeout_s=60, scan_jobs_max=10)
LIMIT = 50
TABLES = (
    "job",
    "attempt",
    "job_label",
    "job_array",
    "batch_update",
    "bunch",
    "bunch_count",
    "member_span",
    "group_ancestor",
    "ready_job",
    "runnable",
)
INDEXED = [
    ("", None, 50),
    ("job_id > 30000", None, 50),
    ("job_id > 30000 and job_id < 30010", None, 9),
    ("name = n7", None, 50),
    ("name = n7 or name = n8", None, 50),
    ("name = n7 and not state = failed", None, 50),
    ("state = failed", None, 10),
    ("state = bad and exit_code = 3", None, 10),
    ("exit_code > 2", None, 10),
    ("state = running", None, 50),
    ("state = ready", None, 50),
    ("", "/small", 10),
    ("", "/wide", 50),
    ("cohort = x", "/small", 0),
    ("", "chosen", 3),
    ("name = n7", "chosen", 0),
]
"""Query, group, and how many jobs a page has of it."""


def rows() -> JobRows:
    """Return 100 named jobs."""
    return job_rows(100, names={number: f"n{number % 10}" for number in range(1, 101)})


@pytest.fixture
async def large(own_world: World) -> tuple[World, int]:
    """Give a batch of many updates, some jobs of which ran and some of which failed."""
    groups = [
        NewGroup(group_id=1, parent_id=0, name="small"),
        NewGroup(group_id=2, parent_id=0, name="wide"),
        *[NewGroup(group_id=n, parent_id=2, name=f"n{n}") for n in range(3, 40)],
    ]
    batch = await own_world.submit(job_rows(10, group=1), groups=groups)
    await own_world.submit(
        job_rows(N_JOBS, group=[-(3 + n % 37) for n in range(N_JOBS)]), batch=batch
    )
    for _ in range(N_UPDATES):
        await own_world.submit(rows(), batch=batch)
    worker = await own_world.worker()
    for _ in range(10):
        claimed = await worker.claim(500)
        await worker.end(*claimed[1:])
        await worker.end(claimed[0], reason=Reason.EXIT, exit_code=3)
    await worker.claim(200)
    chosen, _ = await own_world.api.create_set(own_world.caller, batch, NewSet(name="chosen"))
    await own_world.api.add_members(own_world.caller, batch, chosen, [500, 20_000, 40_000])
    await own_world.fold()
    return own_world, batch


async def page(
    world: World, batch: int, text: str, group: str | None, after: int = 0
) -> tuple[int, dict[str, Reads]]:
    """Ask for a page on a fresh connection; return how many jobs it has, and what was read."""
    wanted = JobQuery(
        query=parse_query(text, Subject.JOBS), group=group, after=after, limit=LIMIT, limits=LIMITS
    )
    connection = await world.connect("weft_api")
    async with reads(connection, *TABLES) as found:
        numbers = await job_ids(connection, world.caller.tenant_id, batch, wanted)
    return len(numbers), found


async def test_indexed_terms_read_what_a_page_holds(
    large: tuple[World, int], analyse: Analyse
) -> None:
    world, batch = large
    await analyse()
    wrong = {}
    for text, group, n_jobs in INDEXED:
        found, read = await page(world, batch, text, group)
        scanned = [table for table, one in read.items() if one.scans]
        by_index = {table: one.rows_by_index for table, one in read.items() if one.rows_by_index}
        if found != n_jobs or scanned or max(by_index.values()) > 5_500:
            wrong[text, group] = (found, scanned, by_index)

    assert wrong == {}


async def test_any_page_is_read_alone(large: tuple[World, int]) -> None:
    """Where it begins costs nothing."""
    world, batch = large
    for text, group in (("", None), ("name = n7", None), ("", "/wide"), ("state = ready", None)):
        for after in (0, 10_000, 39_000, 55_000):
            _, read = await page(world, batch, text, group, after)
            assert read["job"].rows_by_index <= 110, (text, group, after)
            assert read["batch_update"].rows_by_index <= 110, (text, group, after)


N_BATCHES = 5000
TABLES_OF_BATCHES = ("batch", "group_completion", "group_count")


async def fill(world: World) -> None:
    """Add batches like one that has ended; every second one is not complete, or without a name."""
    world.has_made_up = True
    batch, _worker = await world.submit_and_run(1, name="first", limit=1)
    await world.fold()
    for table, columns in (
        ("batch", "batch_id, name, created_at"),
        ("group_count", "batch_id, complete"),
        ("group_completion", "batch_id, completed_at"),
    ):
        values = {
            "batch_id": "x.batch_id + n",
            "name": f"CASE WHEN n % 2 = 0 THEN 'n' || (n * 7919) % {N_BATCHES} END",
            "created_at": "x.created_at + n * interval '1 s'",
            "complete": "n % 2 = 0",
            "completed_at": f"x.completed_at + (n * 7919) % {N_BATCHES} * interval '1 s'",
        }
        names = await world.admin.fetchval(
            "SELECT string_agg(attname, ', ') FROM pg_attribute WHERE attnum > 0 "
            "AND NOT attisdropped AND attrelid = $1::text::regclass AND attname <> ALL ($2)",
            f"weft.{table}",
            columns.split(", "),
        )
        made = ", ".join(values[one] for one in columns.split(", "))
        await world.admin.execute(
            f"INSERT INTO weft.{table} ({columns}, {names}) "  # noqa: S608 (names of the catalog)
            f"OVERRIDING SYSTEM VALUE SELECT {made}, {names} "
            f"FROM weft.{table} x, generate_series(1, {N_BATCHES}) n WHERE x.batch_id = $1",
            batch,
        )


async def test_any_page_in_any_order_is_read_alone(own_world: World, analyse: Analyse) -> None:
    """By completion every second batch is passed over; deep pages cost what the first one does.
    A user who does not see the tenant finds the same batches twice: as own ones, and in a project.
    """
    await fill(own_world)
    await analyse()
    wrong = {}
    operator = replace(own_world.caller, role=UserRole.OPERATOR)
    for caller, times in ((operator, 2.5), (own_world.caller, 5)):
        for sort, reverse in product(BatchSort, (False, True)):
            after = None
            for depth in range(3):
                limit = LIMIT if depth != 1 else 1000
                order = BatchOrder(sort, reverse)
                wanted = BatchQuery(order=order, after=after, limit=limit, limits=LIMITS)
                connection = await own_world.connect("weft_api")
                async with reads(connection, *TABLES_OF_BATCHES) as found:
                    rows = await batch_rows(connection, caller, wanted)
                await connection.close()
                after = BatchPlace(rows[-1][1], rows[-1][0])
                read = {name: one.rows_scanned + one.rows_by_index for name, one in found.items()}
                assert len(rows) == limit
                is_scanned = any(one.scans for one in found.values())
                if max(read.values()) > times * limit or is_scanned:
                    wrong[caller.role, sort, reverse, depth] = read

    assert wrong == {}
