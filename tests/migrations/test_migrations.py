"""Migrations: from nothing to the snapshot, once and only once, and never backwards."""

import asyncio
import re
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from weft.core.errors import WeftError
from weft.sql import FIRST_SCHEMA, SqlFile, WholeSchema, files_of, rights_of, whole_schema
from weft.store import SchemaTooNew, open_admin
from weft.store.errors import SchemaTooOld
from weft.store.migrate import SchemaUnreleased, ServerTooOld, _apply
from weft.store.migrate import migrate as migrate_on

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "tests" / "migrations" / "schema.snapshot.sql"
NAMES = [file.name for file in files_of("migrations")]
SCHEMA = whole_schema().name
ALL = [SCHEMA, "functions and views"]
Dsns = Mapping[str, str]


async def migrate(dsn: str) -> list[str]:
    async with open_admin(dsn) as admin:
        return await admin.migrate()


def test_migrated_database_equals_the_snapshot(database: Dsns) -> None:
    """If this fails after a change of the schema: `make snapshot`, and look at the difference."""
    dump_of = runpy.run_path(str(ROOT / "tools" / "schema_snapshot.py"))["dump_of"]

    assert SNAPSHOT.read_text() == dump_of(database["admin"])


async def test_from_nothing_once(empty_database: Dsns) -> None:
    dsn = empty_database["admin"]
    async with open_admin(dsn) as admin:
        before = await admin.status()
        first, second = await admin.migrate(), await admin.migrate()
        after = await admin.status()

    assert (before.version, before.pending, before.functions_current) == (None, (SCHEMA,), False)
    assert (first, second) == (ALL, [])
    assert (after.version, after.pending, after.functions_current) == (SCHEMA, (), True)
    assert (before.problem, after.problem) == (None, None)
    assert after.program_version == SCHEMA


@pytest.mark.heavy
async def test_two_at_once_are_safe(empty_database: Dsns, postgres: Any) -> None:  # noqa: ANN401
    """In one database, and beside another database of the same server: roles belong to both."""
    other = postgres.create_database(template=None)
    dsns = [empty_database["admin"]] * 3 + [postgres.dsn(other)]
    done = await asyncio.gather(*[migrate(dsn) for dsn in dsns])
    postgres.drop_database(other)

    assert sorted(done[:3]) == [[], [], ALL]
    assert done[3] == ALL


async def test_older_server_is_refused() -> None:
    class Older:
        async def fetchval(self, _query: str) -> str:
            return "140012"

    with pytest.raises(ServerTooOld, match="PostgreSQL 14 is too old"):
        await migrate_on(Older())


@pytest.mark.parametrize(
    ("change", "kind", "title", "fact"),
    [
        (
            "INSERT INTO weft.migration VALUES ('9999_pre_of_the_future', 'x')",
            SchemaTooNew,
            "newer weft",
            "9999_pre_of_the_future",
        ),
        (
            "UPDATE weft.migration SET name = '0110_post_unused_parts'",
            SchemaUnreleased,
            "never released",
            "It ends with 0110_post_unused_parts, which no release of weft has.",
        ),
        (
            "UPDATE weft.migration SET checksum = 'x'",
            SchemaUnreleased,
            "never released",
            f"It began with another {SCHEMA}",
        ),
    ],
    ids=["of a newer release", "migrations of no release", "a schema of no release"],
)
async def test_schema_of_another_program_is_refused_and_left(
    database: Dsns,
    owner: asyncpg.Connection,
    change: str,
    kind: type[WeftError],
    title: str,
    fact: str,
) -> None:
    await owner.execute(change)
    await owner.execute("COMMENT ON SCHEMA weft IS 'another'")

    with pytest.raises(kind, match=title) as caught:
        await migrate(database["admin"])
    assert fact in caught.value.detail
    assert caught.value.exit_code == 4
    comment = "SELECT obj_description('weft'::regnamespace, 'pg_namespace')"
    assert await owner.fetchval(comment) == "another"
    async with open_admin(database["admin"]) as admin:
        assert title in str((await admin.status()).problem)


def test_comments_of_the_schema_make_no_other_one() -> None:
    """A word that is mended after a release shuts out no database."""
    schema = whole_schema()
    said = WholeSchema(schema.name, schema.source.replace("-- ", "--   told better: "))
    other = WholeSchema(schema.name, schema.source.replace("bigint", "int", 1))

    assert said.checksum == schema.checksum != other.checksum


async def test_functions_are_replaced_when_they_changed(
    database: Dsns, owner: asyncpg.Connection
) -> None:
    """Rights are as the headers say, obsolete functions and the data stay."""
    await owner.execute("COMMENT ON SCHEMA weft IS 'older'")
    await owner.execute(
        "CREATE FUNCTION weft.get_batch(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'"
    )
    await owner.execute("CREATE FUNCTION weft.obsolete() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    await owner.execute("INSERT INTO weft.tenant (name) VALUES ('kept')")
    done = await migrate(database["admin"])
    found = await owner.fetch(
        "SELECT p.proname AS name, pg_get_userbyid(p.proowner) AS owner, "
        "ARRAY(SELECT pg_get_userbyid(a.grantee) FROM aclexplode(p.proacl) a "
        "WHERE a.grantee <> p.proowner ORDER BY 1) AS granted "
        "FROM pg_proc p WHERE p.pronamespace = 'weft'::regnamespace"
    )
    expected = {
        file.name: (rights_of(file).owner, sorted(rights_of(file).granted_to))
        for file in files_of("functions")
    }

    of_migrations = {
        "_refuse_transition",
        "_count_worker",
        "_note_owner",
        "_note_limited",
        "_sum_machines",
        "_name_key",
        "_keep_status_change",
        "_follow_core",
        "_note_foreign",
        "_note_worthless",
        "_leave_order",
        "_leave_orders",
        "_follow_item",
        "_note_state",
        "obsolete",
    }

    assert done == ["functions and views"]
    assert len(found) == len(expected) + len(of_migrations)
    assert {
        row["name"]: (row["owner"], list(row["granted"]))
        for row in found
        if row["name"] not in of_migrations
    } == expected
    assert await owner.fetchval("SELECT count(*) FROM weft.tenant") == 1


async def test_migration_waits_for_no_batch(database: Dsns, owner: asyncpg.Connection) -> None:
    """Its own lock is not that of a batch which happens to have its number."""
    async with owner.transaction():
        await owner.execute("SELECT pg_advisory_xact_lock(n) FROM generate_series(7690, 7710) n")
        async with asyncio.timeout(60):
            assert await migrate(database["admin"]) == []


async def test_victim_of_a_deadlock_is_applied_again(
    database: Dsns, owner: asyncpg.Connection
) -> None:
    """Programs of the release before lock tables in another order."""
    program = await asyncpg.connect(database["admin"])
    await owner.execute("CREATE TABLE public.a (); CREATE TABLE public.b ()")
    waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'public.b'::regclass"
    async with program.transaction():
        await program.execute("SET LOCAL deadlock_timeout = '1min'; LOCK TABLE public.b")
        file = SqlFile("9999_pre_late", "LOCK TABLE public.a; LOCK TABLE public.b")
        applying = asyncio.create_task(_apply(owner, file))
        while not await program.fetchval(waits):
            await asyncio.sleep(0)
        await program.execute("LOCK TABLE public.a")
    await program.close()

    assert await applying == file.name


def test_names_tell_the_order_and_when_they_run() -> None:
    numbers = [int(name[:4]) for name in NAMES]

    assert [name for name in NAMES if not re.fullmatch(r"\d{4}_(pre|post)_[a-z0-9_]+", name)] == []
    assert numbers == list(range(FIRST_SCHEMA + 1, FIRST_SCHEMA + 1 + len(numbers)))


def test_every_function_stands_in_the_folder_of_one_subject() -> None:
    """Below their floor; hooks are a folder of their own."""
    hooks = ROOT.glob("src/weft/sql/functions/hooks/*.sql")
    subjects = ROOT.glob("src/weft/sql/functions/*/*/*.sql")
    of_packages = ROOT.glob("packages/*/src/*/sql/functions/*/*/*.sql")
    on_disk = sorted(path.stem for path in (*hooks, *subjects, *of_packages))

    assert on_disk == [file.name for file in files_of("functions")]
    assert len(set(on_disk)) == len(on_disk)


WRITES = re.compile(
    r"\b(INSERT INTO|UPDATE weft|DELETE FROM|FOR (NO KEY )?UPDATE|FOR (KEY )?SHARE|advisory)"
)


def test_functions_say_what_their_callers_must_know() -> None:
    """First line, what a repeat does unless it only reads, which locks it takes, who owns it."""
    found = {file.name: _untold(file) for file in files_of("functions")}

    assert {name: untold for name, untold in found.items() if untold} == {}


def _untold(file: SqlFile) -> list[str]:
    """Return what the header of a function lacks."""
    header, body = file.text.split("CREATE OR REPLACE FUNCTION", 1)
    only_reads = re.search(r"\b(STABLE|IMMUTABLE)\b", body.partition("$$")[0])
    parts = ["Owner:"] if only_reads else ["Safe to repeat:", "Owner:"]
    if WRITES.search(body):
        parts.append("Locks:")
    untold = [part for part in parts if part not in header]
    if not header.startswith(f"-- {file.name}: "):
        untold.append("its name, first of all")
    if not all(line.startswith("-- ") for line in header.splitlines()):
        untold.append("-- before each line")
    if not body.startswith(f" weft.{file.name}("):
        untold.append("the function of this name")
    return untold


async def test_bodies_compile(owner: asyncpg.Connection) -> None:
    """All are there now, so each can be checked when it is replaced."""
    async with owner.transaction():
        await owner.execute("SET LOCAL check_function_bodies = on")
        await owner.execute("SET LOCAL plpgsql.extra_errors = 'all'")
        for file in files_of("functions"):
            await owner.execute(file.text)


async def test_audit_finds_nothing_in_an_empty_database(database: Dsns) -> None:
    async with open_admin(database["admin"]) as admin:
        findings = await admin.audit()

    assert len(findings) == len(files_of("audit"))
    assert [one.check for one in findings if one.rows] == []
    assert [one.check for one in findings if not one.sentence.endswith(".")] == []


async def test_audit_of_an_unfit_schema_says_what_is_missing_and_what_to_do(
    database: Dsns, owner: asyncpg.Connection
) -> None:
    await owner.execute("COMMENT ON SCHEMA weft IS 'other'")
    async with open_admin(database["admin"]) as admin:
        with pytest.raises(SchemaTooOld) as audit:
            await admin.audit()
        with pytest.raises(SchemaTooOld):
            await admin.add_rates({"cpu": "1"}, None)

    assert "All migrations were applied, by another version" in audit.value.detail
    assert "weft db migrate" in audit.value.hint


async def test_local_user_is_made_once(database: Dsns, owner: asyncpg.Connection) -> None:
    async with open_admin(database["admin"]) as admin:
        for _ in range(2):
            await admin.ensure_local_user(user="ada", token="secret")

    assert await owner.fetchval("SELECT count(*) FROM weft.tenant_user") == 1
    assert await owner.fetchval("SELECT count(*) FROM weft.tenant") == 1


@pytest.mark.parametrize(("first", "later"), [(None, "local"), ("local", "default")])
async def test_local_user_is_of_the_first_tenant(
    database: Dsns, owner: asyncpg.Connection, first: str | None, later: str
) -> None:
    """Also where an earlier release has made that one, and another one has today's name."""
    async with open_admin(database["admin"]) as admin:
        await admin.ensure_local_user(user="ada", token="a", tenant=first)
        await admin.ensure_local_user(user="eve", token="b", tenant=later)
        await admin.ensure_local_user(user="bob", token="c")
    rows = await owner.fetch(
        "SELECT t.name AS tenant, u.name FROM weft.tenant t JOIN weft.tenant_user u"
        " USING (tenant_id) ORDER BY u.user_id"
    )

    home = first or "default"
    assert [tuple(row) for row in rows] == [(home, "ada"), (later, "eve"), (home, "bob")]
