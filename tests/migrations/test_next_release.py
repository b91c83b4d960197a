"""Migrations of a later release lead to the schema that it gives an empty database."""

import runpy
from collections.abc import Mapping
from pathlib import Path

import asyncpg
import pytest

from migrations.next_release import ADDS, NUMBER, SCHEMA, TAKES, NextRelease, make_next_release
from weft.sql import whole_schema
from weft.store import SchemaTooNew, open_admin

ROOT = Path(__file__).resolve().parents[2]
Dsns = Mapping[str, str]


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> NextRelease:
    """Give the release after this one."""
    return make_next_release(tmp_path_factory.mktemp("next"))


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

    assert adds == sure | {"name": ADDS, "command": "migrate", "locks": [],
                           "statements": {"CREATE TABLE": 1}}  # fmt: skip
    assert takes == sure | {"name": TAKES, "command": "contract", "locks": [lock],
                            "statements": {"DROP INDEX": 1}}  # fmt: skip
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
