"""The threat model names tests that exist, in the files that it says."""

import re
from collections.abc import Iterator

from tidy.source_files import ROOT

GUIDE = (ROOT / "docs/security.md").read_text()
PLACES = (ROOT / "tests", ROOT / "packages/testing")
SAME = re.compile(r"the (?:first of these|same) tests?$")
PLACED = re.compile(r"`((?:[\w/]+/)?\w+\.py)`(?:: ((?:`test_\w+`(?:, )?)+))?")


def rows() -> Iterator[tuple[str, str]]:
    """Yield the attack and the test of each row of the tables that have tests."""
    has_tests = False
    for line in GUIDE.splitlines():
        cells = [one.strip() for one in line.strip("|").split("|")]
        if not line.startswith("| "):
            has_tests = has_tests and line.startswith("|-")
        elif not has_tests:
            has_tests = cells[-1] == "test"
        else:
            yield cells[0], cells[-1]


def test_tests_that_the_threat_model_names_exist() -> None:
    named = set(re.findall(r"`(test_[a-z0-9_]+)`", GUIDE))
    code = "".join(one.read_text() for top in PLACES for one in top.rglob("*.py"))

    assert len(named) > 50
    assert [one for one in sorted(named) if f"def {one}(" not in code] == []


def test_each_row_names_a_test_or_says_none() -> None:
    found = list(rows())

    assert len(found) > 90
    assert [
        row
        for row in found
        if "`" not in row[1] and not SAME.match(row[1])
        if row[1] != "none"
        if not row[1].startswith("none;")
    ] == []


def test_tests_are_in_the_files_that_the_threat_model_names() -> None:
    wrong = []
    for _, cell in rows():
        for file, tests in PLACED.findall(cell):
            places = [ROOT / file] if "/" in file else list(PLACES[1].rglob(file))
            code = "".join(one.read_text() for one in places if one.exists())
            names = re.findall(r"test_\w+", tests)
            if "def test_" not in code or any(f"def {one}(" not in code for one in names):
                wrong.append((file, names))

    assert wrong == []
