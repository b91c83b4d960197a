"""Functions say which locks they take, and take them in the order of docs/lock-order.md."""

import re
from collections.abc import Iterator
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
    None: "batch",
}
_ROW_LOCK = re.compile(r"\bFOR (?:NO KEY |KEY )?(?:UPDATE|SHARE)\b|\bLOCK TABLE\b")


@cache
def tables() -> tuple[list[str], set[str]]:
    """Return the names of the locks in their order, and the functions that turn back."""
    order, turning = PAGE.read_text().split("These functions turn back")
    row = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
    return row.findall(order), set(row.findall(turning))


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
        if part["function"]:
            yield from taken_by(*path, part["function"])
        else:
            how = part["how"] or ""
            free = re.search("tried|SKIP LOCKED|by the caller|with the job", how)
            yield part["lock"], not free, path


@pytest.mark.parametrize("name", [file.name for file in files_of("functions")])
def test_locks_are_taken_in_the_order_of_the_table(name: str) -> None:
    order, turning = tables()
    held: list[str] = []
    wrong = []
    for lock, waits, path in taken_by(name):
        assert lock in order, f"{lock} is not in {PAGE.name}"
        above = [other for other in held if order.index(other) > order.index(lock)]
        if waits and above and lock not in held and not turning & {*path}:
            wrong.append(f"{path[-1]} takes {lock} after {', '.join(above)}")
        held.append(lock)

    assert wrong == []


@pytest.mark.parametrize("name", [file.name for file in files_of("functions")])
def test_header_names_the_locks_of_the_body(name: str) -> None:
    (text,) = (file.text for file in files_of("functions") if file.name == name)
    body = "\n".join(line.partition("-- ")[0] for line in text.splitlines())
    named = {part["lock"] for part in parts_of(name)}
    advisory = {_BY_KEY[key or None] for key in _ADVISORY.findall(body)}

    assert advisory <= named
    assert named or not _ROW_LOCK.search(body)


def test_functions_that_turn_back_are_there() -> None:
    _, turning = tables()

    assert turning <= {file.name for file in files_of("functions")}
