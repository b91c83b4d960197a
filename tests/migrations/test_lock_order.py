"""Functions say which locks they take, and take them in the order of docs/lock-order.md."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cache
from pathlib import Path

import pytest

from weft.sql import files_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lock-order.md"
_LOCKS = re.compile(r"Locks: (.*?)\.(?= |\n|\Z)", re.DOTALL)
_PART = re.compile(r"(?:as (?P<function>\w+)|(?P<lock>\w+))(?: \((?P<how>[^()]*)\))?")
_ADVISORY = re.compile(r"pg_(?:try_)?advisory_(?:xact_)?lock(?:_shared)?\((?:(77\d\d), )?")
_BY_KEY = {
    "7701": "announcements",
    "7702": "leader",
    "7703": "incarnation",
    "7704": "lanes",
    "7705": "new_work",
    "7706": "quotas",
    "7707": "setups",
    "7708": "unique_key",
    "7709": "repeat",
    "7710": "saved_app",
    None: "batch",
}
_ROW_LOCK = re.compile(r"\bFOR (?:NO KEY |KEY )?(?:UPDATE|SHARE)\b")
_CHANGE = re.compile(r"(?<!FOR )(?<!KEY )(?<!DO )\bUPDATE weft\.(\w+)|\bDELETE FROM weft\.(\w+)")
_UNREAD = re.compile(r"--[^\n]*|'(?:[^']|'')*'")
"""Comments and literals; either may contain what looks like the other."""
_NO_SECOND_TIME = re.compile(r"the same|rows above|instead|of one|by the caller|locked there")
_LOCK_TABLE = re.compile(r"\bLOCK TABLE weft\.(\w+)")


@cache
def tables() -> tuple[list[str], set[tuple[str, str]]]:
    """Return the names of the locks in their order, and the functions that turn back with the
    locks for which they do.
    """
    order, turning = PAGE.read_text().split("These functions turn back")
    row = re.compile(r"^\| `(\w+)` \| (.*?) \|", re.MULTILINE)
    return [lock for lock, _ in row.findall(order)], {
        (function, lock)
        for function, locks in row.findall(turning)
        for lock in re.findall(r"`(\w+)`", locks)
    }


@cache
def ordered() -> set[str]:
    """Return the locks that stand for several rows."""
    row = re.compile(r"^\| `(\w+)` \| [^|]*\border\b", re.MULTILINE)
    return {*row.findall(PAGE.read_text())} & {*tables()[0]}


@cache
def locks_by_table() -> dict[str, set[str]]:
    """Return by table the locks that stand for its rows."""
    found: dict[str, set[str]] = {}
    row = re.compile(r"^\| `(\w+)` \| .*? \| (.*)\|$", re.MULTILINE)
    for lock, rows in row.findall(PAGE.read_text().partition("These functions turn back")[0]):
        for table in re.findall(r"`(\w+)`", rows):
            found.setdefault(table, set()).add(lock)
    return found


def body_of(name: str) -> str:
    """Return the text of a function without comments and literals."""
    (text,) = (file.text for file in files_of("functions") if file.name == name)
    return without_comments_and_literals(text)


def without_comments_and_literals(text: str) -> str:
    """Return SQL on one line, without what its comments say, and with empty literals."""
    read = _UNREAD.sub(lambda found: "''" if found[0].startswith("'") else "", text)
    return re.sub(r"(?<=\() | (?=\))", "", " ".join(read.split()))


@cache
def called_by(name: str) -> set[str]:
    """Return the functions that a function calls, besides itself."""
    called = {*re.findall(r"\bweft\.(\w+)\(", body_of(name))}
    return called & {file.name for file in files_of("functions")} - {name}


def tables_locked_in(body: str) -> set[str]:
    """Return the tables of which a function locks, updates or deletes rows."""
    found = {table for pair in _CHANGE.findall(body) for table in pair if table}
    found |= {*_LOCK_TABLE.findall(body)}
    for at in re.finditer(r"\bDO UPDATE\b", body):
        found.add(re.findall(r"\bINSERT INTO weft\.(\w+)", body[: at.start()])[-1])
    for at in _ROW_LOCK.finditer(body):
        found |= _tables_of_query(_same_query(body, at.start()), body[at.end() :])
    return found


def _same_query(body: str, end: int) -> str:
    """Return the text of the innermost query up to a place, without its sub-selects."""
    depth, kept = 0, []
    for at in range(end - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(body[at], 0)
        if depth < 0 or (depth == 0 and body[at] == ";"):
            break
        if depth == 0:
            kept.append(body[at])
    return re.split(r"\b(?:SELECT|PERFORM)\b", "".join(reversed(kept)))[-1]


def _tables_of_query(query: str, after: str) -> set[str]:
    """Return the tables of a query, or those of the aliases in `FOR UPDATE OF alias`."""
    sources = re.findall(r"\b(?:FROM|JOIN) weft\.(\w+)(?: (\w+))?", query)
    of = re.match(r" OF (\w+)", after)
    return {table for table, alias in sources if of is None or alias == of[1]}


def parts_of(name: str) -> list[re.Match[str]]:
    """Return what the header of a function says: locks, and functions whose locks it takes."""
    (text,) = (file.text for file in files_of("functions") if file.name == name)
    header = text.partition("CREATE OR REPLACE")[0].replace("\n--  ", "")
    found = _LOCKS.search(header)
    if found is None or found[1].startswith("none"):
        return []
    parts = [_PART.fullmatch(part.strip()) for part in found[1].split(";")]
    assert all(parts), f"{name}: {found[1]}"
    return [part for part in parts if part]


def taken_by(*path: str) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Yield each lock with whether the function may wait for it, and the calls down to it."""
    for part in parts_of(path[-1]):
        yield from taken_by_part(path, part)


def taken_by_part(
    path: tuple[str, ...], part: re.Match[str]
) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Yield, as `taken_by`, what one part of a header says."""
    if part["function"]:
        yield from taken_by(*path, part["function"])
    else:
        how = part["how"] or ""
        free = re.search("tried|SKIP LOCKED|nobody else|by the caller|with the job", how)
        yield part["lock"], not free, path


def called_in_loops(body: str) -> set[str]:
    """Return the functions that a body calls in a loop."""
    found, depth = set(), 0
    for token in re.finditer(r"\bEND LOOP\b|\bLOOP\b|\bweft\.(\w+)\(", body):
        if token[1]:
            found |= {token[1]} if depth else set()
        else:
            depth += 1 if token[0] == "LOOP" else -1
    return found


def broken(rule: Callable[[str], Collection[str]]) -> dict[str, Collection[str]]:
    """Return by function how it breaks a rule. A test for each function would take longer to
    report than to run.
    """
    return {file.name: found for file in files_of("functions") if (found := rule(file.name))}


def test_locks_are_taken_in_the_order_of_the_table() -> None:
    assert broken(_out_of_order) == {}


def _out_of_order(name: str) -> list[str]:
    order, turning = tables()
    held: list[str] = []
    wrong = []
    for lock, waits, path in taken_by(name):
        if lock not in order:
            return [f"{lock} is not in {PAGE.name}"]
        above = [other for other in held if order.index(other) > order.index(lock)]
        turns = {(function, lock) for function in path} & turning
        if waits and above and lock not in held and not turns:
            wrong.append(f"{path[-1]} takes {lock} after {', '.join(above)}")
        held.append(lock)
    return wrong


def test_rows_are_locked_once_in_their_order() -> None:
    """Rows that are locked after others of their kind are in no order with them."""
    assert broken(_locked_again) == {}


def _locked_again(name: str) -> list[str]:
    _, turning = tables()
    again, times = called_in_loops(body_of(name)), Counter[str]()
    for part in parts_of(name):
        if not _NO_SECOND_TIME.search(part["how"] or ""):
            locks = {
                lock
                for lock, waits, path in taken_by_part((name,), part)
                if waits and not {(function, lock) for function in path} & turning
            }
            times.update(dict.fromkeys(locks & ordered(), 1 + (part["function"] in again)))
    return [lock for lock, n in times.items() if n > 1]


def test_header_names_the_locks_of_the_body() -> None:
    assert broken(_unnamed_in_body) == {}


def _unnamed_in_body(name: str) -> set[str]:
    body = body_of(name)
    named = {part["lock"] for part in parts_of(name)}
    advisory = {_BY_KEY[key or None] for key in _ADVISORY.findall(body)}
    rows = {
        f"rows of {table}"
        for table in tables_locked_in(body)
        if not named & locks_by_table().get(table, set())
    }
    return advisory - named | rows


def test_header_names_the_locks_of_the_functions_that_it_calls() -> None:
    assert broken(_unnamed_in_calls) == {}


def _unnamed_in_calls(name: str) -> set[str]:
    named = {lock for lock, _, _ in taken_by(name)}
    return {
        f"{lock} of {called}"
        for called in called_by(name)
        for lock, _, _ in taken_by(called)
        if lock not in named
    }


@pytest.mark.parametrize(
    ("body", "tables"),
    [
        ("UPDATE weft.job j SET a = 1 FROM weft.batch b;", {"job"}),
        ("DELETE FROM weft.claim c;", {"claim"}),
        ("INSERT INTO weft.event (a) VALUES (1) ON CONFLICT DO NOTHING;", set()),
        ("INSERT INTO weft.shape AS s VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2;", {"shape"}),
        ("PERFORM FROM weft.queue WHERE (SELECT a FROM weft.job) FOR NO KEY UPDATE;", {"queue"}),
        ("SELECT 1 FROM weft.worker w JOIN weft.claim c USING (x) FOR SHARE OF w;", {"worker"}),
        ("SELECT 1 FROM (SELECT 1 FROM weft.job j FOR UPDATE) x, weft.fold f;", {"job"}),
    ],
)
def test_statements_that_lock_rows_are_found(body: str, tables: set[str]) -> None:
    assert tables_locked_in(body) == tables


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("PERFORM weft.a(); FOR x IN SELECT weft.b() LOOP PERFORM weft.c(); END LOOP;", {"c"}),
        ("LOOP LOOP x := weft.a(); END LOOP; PERFORM weft.b(); END LOOP; weft.c();", {"a", "b"}),
    ],
)
def test_calls_in_loops_are_found(body: str, found: set[str]) -> None:
    assert called_in_loops(body) == found


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("PERFORM 1; -- it's not ours\nPERFORM 2;", "PERFORM 1; PERFORM 2;"),
        ("PERFORM f(\n    1\n);\nPERFORM 2;", "PERFORM f(1); PERFORM 2;"),
        ("PERFORM f('use --force'); PERFORM 2;", "PERFORM f(''); PERFORM 2;"),
        ("PERFORM f('it''s -- so'); PERFORM 2;", "PERFORM f(''); PERFORM 2;"),
    ],
)
def test_comments_and_literals_are_not_read(text: str, read: str) -> None:
    assert without_comments_and_literals(text) == read


def test_functions_that_turn_back_are_there() -> None:
    order, turning = tables()

    assert {function for function, _ in turning} <= {file.name for file in files_of("functions")}
    assert {lock for _, lock in turning} <= {*order}
