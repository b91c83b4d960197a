"""What follows from the head of an SQL function is put in, and written nowhere."""

import re

import pytest

from weft.sql import files_of, rights_of
from weft.sql.heads import LOGINS, with_clauses

PATH = "SET search_path = pg_catalog, pg_temp"
COLUMN = "#variable_conflict use_column"
FOR_TENANT = re.compile(
    r"Owner: weft_tenant\.  Granted to: .*weft_api.*\n[^$]*\btenant_id int\b[^$]*plpgsql"
)


def function(owner: str, clauses: str, body: str = "\nBEGIN") -> str:
    head = f"-- f: does.\n-- Safe to repeat: yes.   Owner: {owner}.\n"
    return f"{head}CREATE OR REPLACE FUNCTION weft.f() LANGUAGE {clauses} AS $${body}"


@pytest.mark.parametrize(
    ("owner", "written", "meant"),
    [
        ("weft_tenant", "sql STABLE", "sql STABLE"),
        ("weft_system.  Granted to: weft_tenant", "sql", "sql"),
        ("weft_tenant.  Granted to: weft_api", "sql", f"sql SECURITY DEFINER {PATH}"),
        (
            "weft_tenant.  Granted to: weft_system, weft_api",
            "sql STABLE PLAN_ONCE",
            f"sql SECURITY DEFINER {PATH} STABLE PLAN_ONCE",
        ),
        ("weft_tenant", "sql SECURITY DEFINER", f"sql SECURITY DEFINER {PATH}"),
    ],
)
def test_clauses_follow_from_who_may_call(owner: str, written: str, meant: str) -> None:
    assert with_clauses(function(owner, written)) == function(owner, meant)


def test_names_are_columns_unless_the_body_says_otherwise() -> None:
    own = function("weft_tenant", "plpgsql", "\n#variable_conflict use_variable\nBEGIN")

    assert with_clauses(function("weft_tenant", "plpgsql")).endswith(f"AS $$ {COLUMN}\nBEGIN")
    assert with_clauses(own) == own


def test_what_has_no_owner_is_left_alone() -> None:
    schema = "CREATE FUNCTION weft.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"

    assert with_clauses(schema) == schema


def test_each_function_has_its_clauses() -> None:
    """Those that a login calls run as their owner; none looks names up where a caller decides."""
    found = {file.name: (rights_of(file), file.text) for file in files_of("functions")}
    granted = {name: {*rights.granted_to} for name, (rights, _) in found.items()}
    logins = set().union(*granted.values()) - {rights.owner for rights, _ in found.values()}
    called = {name for name, roles in granted.items() if logins & roles}
    definers = {name for name, (_, text) in found.items() if "SECURITY DEFINER" in text}
    chosen = [name for name, (_, text) in found.items() if text.count("#variable_conflict") != 1]

    assert logins == LOGINS
    assert len(called) > 300
    assert called - definers == set()
    assert [name for name in definers if f"SECURITY DEFINER {PATH}" not in found[name][1]] == []
    walled = [text for _, text in found.values() if FOR_TENANT.search(text)]
    assert len(walled) > 170
    assert [text for text in walled if "weft._as_tenant(" not in text] == []
    assert [name for name in chosen if "LANGUAGE plpgsql" in found[name][1]] == []


def test_no_function_writes_what_follows() -> None:
    ritual = re.compile(rf"Called by:|{COLUMN}|SECURITY DEFINER\s+SET search_path")
    spelled = [
        file.name
        for file in files_of("functions")
        if ritual.search(file.source)
        or ("SECURITY DEFINER" in file.source and LOGINS & {*rights_of(file).granted_to})
    ]

    assert spelled == []


def test_bodies_keep_the_numbers_of_their_lines() -> None:
    """PostgreSQL counts from the line with `AS $$`."""
    moved = [
        file.name
        for file in files_of("functions")
        if file.source.partition("AS $$")[2].count("\n")
        != with_clauses(file.source).partition("AS $$")[2].count("\n")
    ]

    assert moved == []
