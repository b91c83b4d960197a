"""Views of dashboards: what they show, and to whom; the queries of the shipped dashboard."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from builders import job_rows
from store.backend import Backend
from store.test_lifecycles import HRSI
from store.world import World, open_world
from weft.core.errors import TenantNotFound, ViewLoginNotFound, ViewLoginTaken
from weft.run.login import with_login
from weft.sql import files_of
from weft.store import open_admin
from weft_lines.rules.setup import parse_setup

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "deploy" / "grafana" / "production-lines.json"
GUIDE = ROOT / "docs" / "guides" / "dashboards.md"
VIEWS = sorted(file.name for file in files_of("views") if not file.name.startswith("_"))
SOURCE = """
[source.scenes]
kind = "directory"
path = "/in"
lifecycle = "hrsi"
job = "snow"
target = { within = "3h", from = "published" }
expected = { least = 2, most = 3 }
[job.snow]
command = ["true"]
"""
FOUND = """
WITH last AS (UPDATE weft.source s SET last_n = $3::int WHERE s.tenant_id = $1)
INSERT INTO weft.source_item (source_id, n, tenant_id, key, fields, found_at, state, batch_id,
    job_id, series, series_at, series_from)
SELECT s.source_id, $3::int, s.tenant_id, 'scene-' || $3::int,
    jsonb_build_object('published', $4::text), clock_timestamp(), 'job', $2, $3::int, '32TLR', 1, 0
FROM weft.source s WHERE s.tenant_id = $1
"""


async def login(world: World, name: str) -> asyncpg.Connection:
    """Make a login for the tenant of a world, and return a connection as it."""
    dsn = world.backend.dsns["admin"]
    async with open_admin(dsn) as admin:
        await add(admin, name, world.pool)
    return await asyncpg.connect(with_login(dsn, name, "p"))


@pytest_asyncio.fixture(loop_scope="session")
async def reader(backend: Backend, world: World) -> AsyncIterator[asyncpg.Connection]:
    """Give a connection of a dashboard; another tenant has the same things."""
    name = f"v{uuid4().hex}"
    async with open_world(backend) as other:
        await scenes(other, "of another")
        await scenes(world, "2026-01-01T10:00:00Z", "no date")
        connection = await login(world, name)
        yield connection
        await connection.close()
        async with open_admin(backend.dsns["admin"]) as admin:
            await admin.remove_view_login(name)


async def scenes(world: World, *published: str) -> int:
    """Let a source have found items: the job of the first one ends well, that of the second one
    with an error from outside.
    """
    text = HRSI + SOURCE
    await world.api.save_setup(world.caller, "hrsi", text, parse_setup(text))
    batch = await world.submit(
        job_rows(len(published), names={1: "first"}),
        lifecycle="hrsi",
        attributes={"source": "scenes"},
    )
    for number, date in enumerate(published, 1):
        await world.admin.execute(FOUND, world.caller.tenant_id, batch, number, date)
    worker = await world.worker()
    await end_all(worker, len(published))
    await world.fold()
    return batch


async def end_all(worker: Any, n_jobs: int) -> None:  # noqa: ANN401 (of World.worker)
    claimed = await worker.claim()
    assert len(claimed) == n_jobs
    await worker.start(*claimed)
    await worker.end(claimed[0])


async def rows(reader: asyncpg.Connection, text: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await reader.fetch(text)]


async def test_views_show_statuses_history_throughput_and_aims(
    world: World, reader: asyncpg.Connection
) -> None:
    assert await rows(
        reader,
        "SELECT lifecycle, kind, status, state, n_jobs FROM weft_views.statuses ORDER BY status",
    ) == [
        ("hrsi", "scenes", "done", "success", 1),
        ("hrsi", "scenes", "processing", "running", 1),
    ]
    assert await rows(
        reader,
        "SELECT name, status, attempts, ended_at IS NOT NULL, owner FROM jobs ORDER BY job_id",
    ) == [("first", "done", 1, True, "ada"), (None, "processing", 1, False, "ada")]
    history = await rows(
        reader, "SELECT status, until IS NULL FROM history WHERE job_id = 1 ORDER BY n"
    )
    assert [status for status, _ in history] == [
        "initialized",
        "configured",
        "ready",
        "queued",
        "started",
        "pre_processing",
        "processing",
        "post_processing",
        "processed",
        "done",
    ]
    assert [status for status, is_last in history if is_last] == ["done"]
    assert dict(
        await rows(reader, "SELECT status, sum(n_jobs) FROM throughput GROUP BY status")
    ) == {status: 2 - (n > 6) for n, (status, _) in enumerate(history)}
    assert await rows(
        reader,
        "SELECT item, series, done_at IS NULL, took > '1 day', target::text, in_time "
        "FROM turnaround ORDER BY item",
    ) == [
        ("scene-1", "32TLR", False, True, "03:00:00", False),
        ("scene-2", "32TLR", True, None, "03:00:00", None),
    ]
    assert await rows(
        reader,
        "SELECT source, n_found, n_jobs, n_succeeded, n_failed, least, most, verdict "
        "FROM expected",
    ) == [("scenes", 2, 2, 1, 0, 2, 3, "as expected")]
    assert await rows(reader, "SELECT source, line, state, n_waiting FROM sources") == [
        ("scenes", "hrsi", "active", 0)
    ]
    assert await rows(reader, "SELECT sum(n_succeeded), sum(n_failed) FROM minutes") == [(1, 0)]


async def test_history_has_items_without_a_job(world: World, reader: asyncpg.Connection) -> None:
    """Until they have one, and after it as what it was before."""
    tenant = world.caller.tenant_id
    await world.admin.execute(
        "WITH s AS (UPDATE weft.source SET last_n = 7 WHERE tenant_id = $1 RETURNING *) "
        "INSERT INTO weft.source_item (source_id, n, tenant_id, key, fields, found_at, state, "
        "due_at) SELECT source_id, 7, tenant_id, 'late', '{}', now(), 'new', now() "
        "FROM s",
        tenant,
    )
    step = (
        "UPDATE weft.source_item SET state = '{}', reason = 'r' {} WHERE tenant_id = $1 AND n = 7"
    )
    item = "SELECT status, job, state, until IS NULL FROM history WHERE item = 'late' ORDER BY at"
    await world.admin.execute(step.format("waiting", ""), tenant)
    begun = [("initialized", None, "new", False), ("configured", None, "waiting", True)]
    assert await rows(reader, item) == begun
    batch = await world.submit(job_rows(1), lifecycle="hrsi", attributes={"source": "scenes"})
    job = f", batch_id = {batch}, job_id = 1, due_at = NULL"
    await world.admin.execute(step.format("job", job), tenant)
    ref = f"b{batch}.j1"
    assert await rows(reader, item) == [
        ("initialized", ref, "new", False),
        ("configured", ref, "waiting", False),
        ("ready", ref, "ready", True),
    ]


async def test_item_is_done_when_its_last_message_was_dropped(
    world: World, reader: asyncpg.Connection
) -> None:
    await world.admin.execute(
        "INSERT INTO weft.callback_delivery (kind, batch_id, job_id, sink_id, file, tenant_id, "
        "url, host, body, created_at, tried_at, n_attempts, held) "
        "SELECT 'message', i.batch_id, i.job_id, 1, '', i.tenant_id, 'h:', 'h', '{}', now(), "
        "now() + interval '1 hour', 1, 'held' FROM weft.source_item i "
        "WHERE i.tenant_id = $1 AND i.key = 'scene-1'",
        world.caller.tenant_id,
    )
    done = "SELECT done_at > now() + interval '59 min' FROM turnaround WHERE item = 'scene-1'"
    assert await rows(reader, done) == [(None,)]
    await world.admin.execute("UPDATE weft.callback_delivery SET held = 'dropped'")
    assert await rows(reader, done) == [(True,)]
    await world.admin.execute("DELETE FROM weft.callback_delivery")


async def test_login_reads_its_views_and_nothing_else(
    world: World, reader: asyncpg.Connection
) -> None:
    """Whatever it sets, asks for or owns: no table, no function, no other tenant."""
    tables = await world.admin.fetch(
        "SELECT c.oid::regclass::text AS name FROM pg_class c "
        "WHERE c.relnamespace = 'weft'::regnamespace AND c.relkind = 'r'"
    )
    jobs = await rows(reader, "SELECT job FROM jobs ORDER BY job")
    assert len(jobs) == 2
    other = await world.admin.fetchval(
        "SELECT max(tenant_id) FROM weft.tenant WHERE tenant_id <> $1", world.caller.tenant_id
    )
    await reader.execute(f"SET weft.tenant = {other}")
    assert await rows(reader, "SELECT job FROM jobs ORDER BY job") == jobs
    for statement in (
        *(f"SELECT FROM {row['name']}" for row in tables),
        "SET ROLE weft_views",
        "SET ROLE weft_tenant",
        "SET SESSION AUTHORIZATION weft_views",
        "SELECT weft.list_view_logins()",
        "SELECT weft.get_batch(1, 1)",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await reader.execute(statement)
    await reader.execute("SET default_transaction_read_only = off")
    for statement in (
        "CREATE TABLE weft_views.mine ()",
        "CREATE TABLE weft.mine ()",
        "CREATE SCHEMA mine",
        "DELETE FROM jobs",
        "DROP VIEW weft_views.statuses",
        "UPDATE weft_views.sources SET state = 'paused'",
    ):
        with pytest.raises(asyncpg.PostgresError):
            await reader.execute(statement)


async def test_no_function_of_the_reader_sees_rows_of_others(
    world: World, reader: asyncpg.Connection
) -> None:
    """A condition of its own with a side effect must not be asked before the wall."""
    await reader.execute("SET default_transaction_read_only = off")
    await reader.execute(
        "CREATE FUNCTION pg_temp.told(word text) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS "
        "$$ BEGIN RAISE NOTICE '%', word; RETURN true; END $$"
    )
    told: list[str] = []
    reader.add_log_listener(lambda _, message: told.append(message.message))
    for view, word in (("jobs", "job"), ("history", "job"), ("turnaround", "job")):
        await reader.fetch(f"SELECT FROM {view} WHERE pg_temp.told({word})")
    mine = {row[0] for row in await rows(reader, "SELECT job FROM jobs")}

    assert set(told) == mine


async def test_limits_of_a_login(world: World, reader: asyncpg.Connection) -> None:
    """A query that takes too long ends, and there are no more connections than it may have."""
    settings = await rows(
        reader,
        "SELECT name, setting FROM pg_settings WHERE name IN ('statement_timeout', "
        "'lock_timeout', 'idle_in_transaction_session_timeout', 'default_transaction_read_only')"
        " ORDER BY name",
    )
    assert settings == [
        ("default_transaction_read_only", "on"),
        ("idle_in_transaction_session_timeout", "9000"),
        ("lock_timeout", "1000"),
        ("statement_timeout", "9000"),
    ]
    name = await reader.fetchval("SELECT session_user")
    dsn = with_login(world.backend.dsns["admin"], name, "p")
    second = await asyncpg.connect(dsn)
    with pytest.raises(asyncpg.TooManyConnectionsError):
        await asyncpg.connect(dsn)
    await second.close()


async def test_logins_are_listed_and_end(world: World) -> None:
    name = f"v{uuid4().hex}"
    connection = await login(world, name)
    await world.submit(2)
    assert len(await rows(connection, "SELECT FROM jobs")) == 2
    async with open_admin(world.backend.dsns["admin"]) as admin:
        (listed,) = [one for one in await admin.list_view_logins() if one["login"] == name]
        assert listed.keys() == {"login", "tenant", "created_at"}
        await admin.remove_view_login(name)
        assert name not in {one["login"] for one in await admin.list_view_logins()}
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await rows(connection, "SELECT FROM weft_views.jobs")
    await connection.close()
    for error, call in (
        (ViewLoginNotFound, lambda admin: admin.remove_view_login(name)),
        (ViewLoginNotFound, lambda admin: admin.remove_view_login("weft_api")),
        (ViewLoginTaken, lambda admin: add(admin, "weft_api", world.pool)),
        (TenantNotFound, lambda admin: add(admin, name, "nobody")),
    ):
        with pytest.raises(error):
            async with open_admin(world.backend.dsns["admin"]) as admin:
                await call(admin)


async def add(admin: Any, name: str, tenant: str) -> None:  # noqa: ANN401 (of open_admin)
    await admin.add_view_login(name, tenant=tenant, password="p", timeout_s=9, connections=2)


async def test_dashboard_that_is_shipped(reader: asyncpg.Connection) -> None:
    """Each query of its panels gives rows, as that login."""
    panels = json.loads(DASHBOARD.read_text())["panels"]
    empty = set()
    for panel in panels:
        for target in panel["targets"]:
            text = re.sub(
                r"\$__timeFilter\((\w+)\)",
                r"\1 BETWEEN now() - interval '1 day' AND now() + interval '1 day'",
                target["rawSql"],
            )
            if not await reader.fetch(text):
                empty.add(panel["title"])
    used = set(re.findall(r"weft_views\.(\w+)", DASHBOARD.read_text()))

    assert empty == {"Deliveries", "Errors"}
    assert used == set(VIEWS)


async def test_guide_lists_all_views_and_columns(world: World) -> None:
    found = await world.admin.fetch(
        "SELECT c.relname AS view, array_agg(a.attname::text ORDER BY a.attnum) AS columns "
        "FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid "
        "WHERE c.relnamespace = 'weft_views'::regnamespace AND c.relkind = 'v' AND a.attnum > 0 "
        "GROUP BY c.relname ORDER BY c.relname"
    )
    listed = re.findall(r"^\| `(\w+)` \| .* \| (`.*`) \|$", GUIDE.read_text(), re.MULTILINE)

    assert [row["view"] for row in found] == VIEWS
    assert {view: re.findall(r"`(\w+)`", columns) for view, columns in listed} == {
        row["view"]: row["columns"] for row in found
    }
