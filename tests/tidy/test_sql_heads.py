"""SQL says states, settings and ways to plan by name, and what follows from the head of a function
is put in, and written nowhere.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from weft.settings import Bytes, declared_in, setting, sql_settings
from weft.sql import LOGINS, files_of, rights_of, with_clauses
from weft.sql.names import PROFILES, reading_of, with_numbers, with_profiles, with_settings

PATH = "SET search_path = pg_catalog, pg_temp"
COLUMN = "#variable_conflict use_column"
FOR_TENANT = re.compile(
    r"Owner: weft_tenant\.(?:  |\n-- )Granted to: .*weft_api.*\n[^$]*\btenant_id int\b[^$]*plpgsql"
)

IN_TERM = re.compile(
    r"Owner: weft_system\.(?:  |\n-- )Granted to: .*weft_driver.*"
    r"\n[^$]*\(\s*epoch bigint\b[^$]*plpgsql"
)
FENCE = re.compile(r"PERFORM weft\._check_(epoch|term)\(")


def function(owner: str, clauses: str, body: str = "\nBEGIN") -> str:
    head = f"-- f: does.\n-- Safe to repeat: yes.   Owner: {owner}.\n"
    return f"{head}CREATE OR REPLACE FUNCTION weft.f() LANGUAGE {clauses} AS $${body}"


@pytest.mark.parametrize(
    ("owner", "written", "meant"),
    [
        ("weft_tenant", "sql STABLE", "sql STABLE"),
        ("weft_system.  Granted to: weft_tenant", "sql", "sql"),
        ("weft_tenant.\n-- Granted to: weft_api", "sql", f"sql SECURITY DEFINER {PATH}"),
        (
            "weft_tenant.\n-- Granted to: weft_system,\n--   weft_api",
            "sql",
            f"sql SECURITY DEFINER {PATH}",
        ),
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
    fenced = {name: text for name, (_, text) in found.items() if IN_TERM.search(text)}
    assert len(fenced) > 75
    assert [name for name, text in fenced.items() if not FENCE.search(text)] == []


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


_BARE_NUMBER = re.compile(
    r"\b(?:\w+_)?(?:state|reason|phase)\b\s*"
    r"(?:=|<>|<=|>=|<|>|IS (?:NOT )?DISTINCT FROM|(?:NOT )?IN \(|(?:NOT )?BETWEEN)\s*\d"
)


def test_names_become_numbers() -> None:
    assert with_numbers("state < STATE_SUCCESS") == "state < 6/*SUCCESS*/"
    assert with_numbers("reason = REASON_LOST") == "reason = 11/*LOST*/"
    assert with_numbers("x - WALLTIME_MARGIN_S") == "x - 180/*WALLTIME_MARGIN_S*/"
    assert with_numbers("A_STATE_LOST A_WALLTIME_MARGIN_S") == "A_STATE_LOST A_WALLTIME_MARGIN_S"


def test_a_name_that_is_none_is_an_error() -> None:
    with pytest.raises(KeyError, match="RUNING"):
        with_numbers("state = STATE_RUNING")


def test_no_sql_compares_with_a_bare_number() -> None:
    found = [
        f"{folder}/{file.name}:{number}"
        for folder in ("functions", "views", "audit")
        for file in files_of(folder)
        for number, line in enumerate(file.source.splitlines(), 1)
        if _BARE_NUMBER.search(line)
    ]

    assert found == []


def test_name_stands_for_settings() -> None:
    assert with_profiles("PLAN_ONCE AS") == "SET plan_cache_mode = force_generic_plan AS"


def test_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        with_profiles("PLAN_TWICE")


def test_each_profile_is_used_and_none_is_spelled_out() -> None:
    sources = [one.source for one in files_of("functions")]
    spelled = {
        name
        for name, settings in PROFILES.items()
        for source in sources
        if len(settings) > 1 and all(f"SET {one}" in source for one in settings)
    }

    assert {name for name in PROFILES if not any(name in one for one in sources)} == set()
    assert spelled == set()


def test_what_only_reads_compares_the_term_and_locks_nothing() -> None:
    """A lock of the term has to be committed, which waits for the disk."""
    locking = [
        one.name
        for one in files_of("functions")
        if "yes, it only reads" in one.source and "weft._check_epoch(" in one.text
    ]

    assert locking == ["_check_term"], locking


def test_name_becomes_a_look_at_what_the_leader_handed_over() -> None:
    assert with_settings("n > SETTING_LOSSES_MAX") == (
        "n > (SELECT coalesce((d.settings ->> 'losses_max')::int, 5) FROM weft.driver_state d)"
    )


def test_name_that_is_no_setting_for_sql_is_an_error() -> None:
    with pytest.raises(KeyError, match="drivers"):
        with_settings("n > SETTING_DRIVERS")


@dataclass(frozen=True)
class Section:
    name: str = setting("it's", "A text.", in_sql=True)
    nothing: str | None = setting(None, "No text.", in_sql=True)
    share: float | None = setting(None, "No number.", in_sql=True)
    flag: bool = setting(default=False, help_="A flag.", in_sql=True)
    place: Path = setting(Path("/a b"), "A path.", in_sql=True)
    size: Bytes | None = setting(None, "A size.", in_sql=True)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("name", "(d.settings ->> 'name')::text, E'it''s'"),
        ("nothing", "(d.settings ->> 'nothing')::text, NULL"),
        ("share", "(d.settings ->> 'share')::float8, NULL"),
        ("flag", "(d.settings ->> 'flag')::boolean, False"),
        ("place", "(d.settings ->> 'place')::text, E'/a b'"),
        ("size", "(d.settings ->> 'size')::bigint, NULL"),
    ],
)
def test_type_and_default_are_those_of_the_declaration(name: str, read: str) -> None:
    (one,) = (found for found in declared_in(Section) if found.name == name)

    assert reading_of(one) == f"(SELECT coalesce({read}) FROM weft.driver_state d)"  # noqa: S608 (run nowhere)


def test_each_setting_for_sql_is_read_there() -> None:
    read = {
        name.lower()
        for file in files_of("functions")
        for name in re.findall(r"\bSETTING_([A-Z_]+)\b", file.source)
    }

    assert read == set(sql_settings())
