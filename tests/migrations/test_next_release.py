"""Migrations of a later release lead to the schema that it gives an empty database; older programs
go on after one, until a person says that they are gone.
"""

import re
import runpy
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from contexts import connected
from migrations.next_release import ADDS, NUMBER, SCHEMA, TAKES, NextRelease, make_next_release
from weft import __version__
from weft.core.errors import Internal
from weft.sql import program_schema, whole_schema
from weft.store import (
    SchemaTooNew,
    open_admin,
    open_api_store,
    open_driver_store,
    open_worker_store,
)
from weft.store.contract import OlderProgramsConnected
from weft.store.errors import SchemaTooOld
from weft.store.migrate import SchemaNotExpanded
from weft.store.schema_range import ProgramTooOld

ROOT = Path(__file__).resolve().parents[2]
Dsns = Mapping[str, str]


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> NextRelease:
    """Give the release after this one."""
    return make_next_release(tmp_path_factory.mktemp("next"))


@pytest.fixture
def database(own_database: dict[str, str]) -> dict[str, str]:
    """Give one to which no earlier test is connected: here that is an older program."""
    return own_database


def dump_of(dsns: Dsns) -> str:
    text: str = runpy.run_path(str(ROOT / "tools" / "schema_snapshot.py"))["dump_of"](
        dsns["admin"]
    )
    return text


@pytest.mark.heavy
def test_upgraded_database_equals_a_new_one(
    later: NextRelease, database: dict[str, str], empty_database: dict[str, str]
) -> None:
    old, new = database["admin"], empty_database["admin"]
    before = later.call("status", old)
    migrated = later.call("migrate", old)
    between = later.call("status", old)
    contracted = later.call("contract", old)
    after = later.call("status", old)
    made = later.call("migrate", new)

    assert (before["pending"], before["to_contract"]) == ([ADDS], [TAKES])
    assert migrated == [ADDS, "functions and views"]
    assert (between["pending"], between["to_contract"]) == ([], [TAKES])
    assert contracted == [TAKES]
    assert (after["pending"], after["to_contract"], after["problem"]) == ([], [], None)
    assert made == [SCHEMA, "functions and views"]
    assert later.call("migrate", new) == later.call("contract", new) == []
    assert "weft.colour" in dump_of(database)
    assert dump_of(database) == dump_of(empty_database)


@pytest.mark.heavy
async def test_this_program_does_not_migrate_backwards(
    later: NextRelease, empty_database: dict[str, str]
) -> None:
    later.call("migrate", empty_database["admin"])
    async with open_admin(empty_database["admin"]) as admin:
        with pytest.raises(SchemaTooNew, match="newer weft") as caught:
            await admin.migrate()

    assert SCHEMA in caught.value.detail
    assert whole_schema().name in caught.value.detail


def test_what_is_missing_is_said(later: NextRelease, database: dict[str, str]) -> None:
    refused = later.call("audit", database["admin"])

    assert refused["code"] == "STORE.SCHEMA_TOO_OLD"
    assert f"It lacks the migration {ADDS}." in refused["detail"]


def test_plan_is_of_both_commands(later: NextRelease, database: dict[str, str]) -> None:
    dsn = database["admin"]
    adds, takes = later.call("plan_migration", dsn)
    before = later.call("status", dsn)
    later.call("migrate", dsn)
    rest = later.call("plan_migration", dsn)
    (lock,) = takes["locks"]
    sure = {"seconds": 0, "safe": True}

    assert adds == sure | {
        "name": ADDS,
        "command": "migrate",
        "locks": [],
        "statements": {"CREATE TABLE": 1},
    }
    assert takes == sure | {
        "name": TAKES,
        "command": "contract",
        "locks": [lock],
        "statements": {"DROP INDEX": 1},
    }
    assert (lock["table"], lock["lock"]) == ("weft.pool", "AccessExclusive")
    assert before["pending"] == [ADDS]
    assert rest == [takes]


async def test_migration_that_was_changed_is_refused(
    later: NextRelease, database: dict[str, str]
) -> None:
    later.call("migrate", database["admin"])
    owner = await asyncpg.connect(database["admin"])
    await owner.execute("UPDATE weft.migration SET checksum = 'x' WHERE name = $1", ADDS)
    await owner.close()

    assert later.call("migrate", database["admin"])["code"] == "STORE.MIGRATION_CHANGED"


def test_numbers_go_on_from_the_schema() -> None:
    assert ADDS.startswith(f"{NUMBER:04d}_pre_")
    assert whole_schema().name == f"{NUMBER - 1:04d}_schema"


PREVIOUS = Path(__file__).with_name("previous_signatures.txt")
FUNCTIONS = (
    "SELECT p.proname, p.oid, p.xmin FROM pg_proc p "
    "WHERE p.pronamespace = 'weft'::regnamespace ORDER BY 1"
)


async def migrate(database: dict[str, str]) -> list[str]:
    async with open_admin(database["admin"]) as admin:
        return await admin.migrate()


async def contract(database: dict[str, str], *, force: bool = False) -> list[str]:
    async with open_admin(database["admin"]) as admin:
        return await admin.contract(force=force)


@asynccontextmanager
async def older_program(database: dict[str, str], name: str) -> AsyncIterator[None]:
    """Connect as a worker of an earlier release does."""
    async with connected(database["weft_worker"], server_settings={"application_name": name}):
        yield


async def test_what_the_previous_release_calls_keeps_its_signature(
    database: dict[str, str],
) -> None:
    """One that must change gets a new name; the old function stays for one release. A release
    with further ones has a migration: else its roles begin before `weft db migrate` was run.
    """
    signatures_of = runpy.run_path(str(ROOT / "tools" / "previous_signatures.py"))["signatures_of"]
    lines = PREVIOUS.read_text().splitlines()
    previous = {line for line in lines if not line.startswith("#")}
    now = set(await signatures_of(database["admin"]))
    (release, schema) = re.findall(r"\n# Release (\S+), schema (\d+):", PREVIOUS.read_text())[0]

    assert len(previous) > 50
    assert sorted(previous - now) == []
    assert release == __version__ or now == previous or program_schema() > int(schema)


async def test_no_function_is_overloaded(owner: asyncpg.Connection) -> None:
    """Two functions of one name that differ by a default are ambiguous."""
    names = [row["proname"] for row in await owner.fetch(FUNCTIONS)]

    assert [name for name in set(names) if names.count(name) > 1] == []


async def test_only_a_changed_function_is_touched(
    database: dict[str, str], owner: asyncpg.Connection
) -> None:
    """The changed one keeps its identity: statements prepared on it go on."""
    await owner.execute("COMMENT ON SCHEMA weft IS 'older'")
    await owner.execute("COMMENT ON FUNCTION weft.get_batch IS 'older'")
    before = {row["proname"]: row for row in await owner.fetch(FUNCTIONS)}
    async with open_admin(database["admin"]) as admin:
        (plan,) = await admin.plan_migration()
    done = await migrate(database)
    after = {row["proname"]: row for row in await owner.fetch(FUNCTIONS)}

    assert [plan.name] == done == ["functions and views"]
    assert plan.statements["CREATE OR REPLACE FUNCTION"] == 2  # one is of a view
    assert {lock["table"].partition(".")[0] for lock in plan.locks} == {"weft_views"}
    assert after["get_batch"]["oid"] == before["get_batch"]["oid"]
    assert [name for name, row in after.items() if row != before[name]] == ["get_batch"]


@pytest.mark.parametrize(
    "text",
    [
        "FUNCTION weft._check_batch(a int) RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "FUNCTION weft._check_batch(a int, b bigint) RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ],
    ids=["another overload", "another result"],
)
async def test_changed_signature_leaves_one_function_of_the_name(
    database: dict[str, str], owner: asyncpg.Connection, text: str
) -> None:
    """Only inner functions may do that: the list of signatures refuses it for the others."""
    wanted = await owner.fetchval("SELECT 'weft._check_batch'::regproc::regprocedure::text")
    await owner.execute("DROP FUNCTION weft._check_batch")
    await owner.execute(f"CREATE {text}")
    await owner.execute("COMMENT ON SCHEMA weft IS 'older'")
    await migrate(database)

    assert (
        await owner.fetchval("SELECT 'weft._check_batch'::regproc::regprocedure::text") == wanted
    )


async def test_obsolete_function_stays_until_the_contract_step(
    database: dict[str, str], owner: asyncpg.Connection
) -> None:
    await owner.execute("CREATE FUNCTION weft.obsolete() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    await owner.execute("COMMENT ON SCHEMA weft IS 'older'")
    await migrate(database)
    async with open_admin(database["admin"]) as admin:
        status, (plan,) = await admin.status(), await admin.plan_migration()

    assert status.to_contract == ("weft.obsolete()",)
    assert (plan.command, plan.statements) == ("contract", {"DROP FUNCTION": 1})
    assert await owner.fetchval("SELECT weft.obsolete()") == 1
    assert await contract(database) == ["weft.obsolete()"]
    assert await owner.fetchval("SELECT to_regproc('weft.obsolete')") is None
    assert await contract(database) == []


async def test_obsolete_function_that_a_policy_uses_is_not_torn_out(
    database: dict[str, str], owner: asyncpg.Connection
) -> None:
    await owner.execute(
        "CREATE FUNCTION weft.obsolete() RETURNS bool LANGUAGE sql AS 'SELECT true'"
    )
    await owner.execute("CREATE POLICY p ON weft.batch USING (weft.obsolete())")

    with pytest.raises(Internal) as caught:
        await contract(database)
    assert "other objects depend on it" in str(caught.value.__cause__)
    assert await owner.fetchval("SELECT weft.obsolete()") is True


async def test_contract_before_the_migration_is_refused(
    database: dict[str, str], owner: asyncpg.Connection
) -> None:
    await owner.execute("COMMENT ON SCHEMA weft IS 'older'")

    with pytest.raises(SchemaNotExpanded, match="not that of this program"):
        await contract(database)


@pytest.mark.parametrize("name", ["weft", "weft (schema 0)"])
async def test_contract_is_refused_while_older_programs_are_connected(
    database: dict[str, str], owner: asyncpg.Connection, name: str
) -> None:
    await owner.execute("CREATE FUNCTION weft.obsolete() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    async with older_program(database, name), open_admin(database["admin"]) as admin:
        status = await admin.status()
        with pytest.raises(OlderProgramsConnected, match="older programs") as caught:
            await contract(database)
        assert await owner.fetchval("SELECT weft.obsolete()") == 1
        forced = await contract(database, force=True)

    (older,) = status.older_programs
    assert str(older).startswith("weft_worker from")
    assert "weft_worker from" in caught.value.detail
    assert forced == ["weft.obsolete()"]


async def test_programs_of_this_release_do_not_hinder_the_contract_step(
    database: dict[str, str],
) -> None:
    async with (
        open_api_store(database["weft_api"]) as api,
        open_driver_store(database["weft_driver"]) as driver,
        open_worker_store(database["weft_worker"]) as worker,
    ):
        await driver.try_lead()
        for store in (api, driver, worker):
            await store.check_schema()

        assert await contract(database) == []


async def test_program_older_than_the_range_does_not_start(
    database: dict[str, str], owner: asyncpg.Connection
) -> None:
    await owner.execute("UPDATE weft.schema_range SET schema = 9999, oldest_program = 9998")
    async with open_worker_store(database["weft_worker"]) as store:
        with pytest.raises(ProgramTooOld, match="too old for the database") as caught:
            await store.check_schema()

    assert "made for 9998 or later" in caught.value.detail


@pytest.mark.parametrize(
    "older",
    ["UPDATE weft.schema_range SET schema = 0", "DROP FUNCTION weft.schema_range"],
    ids=["range", "no range yet"],
)
async def test_schema_older_than_the_program_is_refused(
    database: dict[str, str], owner: asyncpg.Connection, older: str
) -> None:
    await owner.execute(older)
    async with open_api_store(database["weft_api"]) as store:
        with pytest.raises(SchemaTooOld, match="too old for this weft") as caught:
            await store.check_schema()

    assert f"needs {program_schema()}" in caught.value.detail
    assert "weft db migrate" in caught.value.hint


async def test_contract_ends_the_range_at_this_program(
    database: dict[str, str], owner: asyncpg.Connection
) -> None:
    before = await owner.fetchval("SELECT oldest_program FROM weft.schema_range")
    await contract(database)

    assert before < program_schema()
    assert await owner.fetchval("SELECT oldest_program FROM weft.schema_range") == program_schema()
