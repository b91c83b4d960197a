"""`weft db migrate --plan`: what it derives from a text is what the server does."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

import asyncpg
import pytest

from e2e.terminal import on_terminal, script_of
from weft.cli.app import run_command
from weft.sql import files_of, text_of, whole_schema
from weft.store.migration_plan import INDEXED, LOCKS, planned_step, statements_of

SQL = Path(__file__).with_name("statements.sql").read_text()
NEEDED, EXAMPLES, RELATIONS, HELD = SQL.split("\n\n")
WRITING = ("UPDATE", "DELETE", "WITH")


async def test_locks_and_rewrites_are_those_of_the_server(
    database: Mapping[str, str], owner: asyncpg.Connection
) -> None:
    """What is written in a second, if all tables have as many bytes, gets new files."""
    await owner.execute(NEEDED)
    derived, made = {}, {}
    sizes = await owner.fetch(text_of("catalog", "table_sizes"))
    tables = {row["name"]: {**row, "n_bytes": INDEXED} for row in sizes}
    before = await owner.fetch(RELATIONS)
    names = {row["oid"]: row["table_name"] for row in before}
    for statement in EXAMPLES.splitlines()[1:]:
        step = planned_step("x", "migrate", statement, tables)
        derived[statement] = {x["table"]: x["lock"] for x in step.locks}, step.seconds >= 1
        transaction = owner.transaction()
        await transaction.start()
        await owner.execute(statement)
        locks: dict[str, str] = {}
        for row in await owner.fetch(HELD):
            name, lock = names.get(row["relation"]), row["mode"].removesuffix("Lock")
            if name and lock in LOCKS:
                locks[name] = max(lock, locks.get(name, lock), key=LOCKS.index)
        after = await owner.fetch(RELATIONS)
        await transaction.rollback()
        files = {row["file"] for row in after if row["table_name"] in names.values()}
        is_written = not files <= {row["file"] for row in before}
        made[statement] = locks, is_written or statement.startswith(WRITING)

    assert derived == made


def test_kinds_of_all_statements_are_known() -> None:
    """But of blocks of code, which may do anything."""
    texts = [file.text for folder in ("migrations", "views") for file in files_of(folder)]
    statements = statements_of("".join([whole_schema().text, *texts]))
    steps = [planned_step("x", "migrate", statement, {}) for statement in statements]

    assert len(steps) > 500
    assert {kind for step in steps if step.safe is None for kind in step.statements} == {"DO"}


def test_plan_of_an_empty_database_as_it_is_shown(
    empty_database: Mapping[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also on a terminal of 80 columns; a database that is up to date says so in one sentence."""
    of = ["--database", empty_database["admin"], "--home", str(tmp_path)]
    words = ["db", "migrate", "--plan", *of]
    with on_terminal(script_of(*words), dict(os.environ), columns=80) as terminal:
        terminal.finish()
    lines = terminal.shown.replace("\r", "").split("\n")
    assert run_command([*words, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert run_command(["db", "migrate", *of]) == 0
    capsys.readouterr()
    assert run_command(words) == 0
    assert capsys.readouterr() == ("", "weft: the schema is up to date\n")

    schema, functions = plan["steps"]
    assert (schema["name"], functions["name"]) == (whole_schema().name, "functions and views")
    assert functions["statements"]["CREATE OR REPLACE FUNCTION"] >= len(files_of("functions"))
    assert schema["locks"] == functions["locks"] == []
    assert [line for line in lines if len(line) > 80] == []
    assert lines[0].startswith(f"{whole_schema().name} (`weft db migrate`): ")
    assert re.search(r"safe while roles run\s+in all about \S+ m?s; nothing", terminal.shown)


def test_a_large_table_is_not_safe() -> None:
    """Unless what takes long locks nothing that roles need."""
    job = {"table_name": "weft.job", "n_rows": 7, "foreign_keys": ()}

    def planned(seconds: int, text: str) -> tuple[float, bool | None]:
        tables = {"weft.job": {**job, "n_bytes": seconds * INDEXED}}
        step = planned_step("x", "migrate", text, tables)
        return step.seconds, step.safe

    assert planned(1, "CREATE INDEX ON weft.job (n)") == (1, True)
    assert planned(60, "CREATE INDEX ON weft.job (n)") == (60, False)
    assert planned(60, "ALTER TABLE weft.job ADD n int") == (0, True)
    assert planned(60, "ALTER TABLE weft.job VALIDATE CONSTRAINT c") == (24, True)
    assert planned(0, "DO $$ SELECT ';' $$") == (0, None)
