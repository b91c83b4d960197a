"""Conditions that blocked jobs wait for, as lines of a table; findings of `weft doctor` and `weft
system`, one below the other.
"""

import sys
from collections.abc import Iterable
from typing import Final

from weft.cli.terminal.plain import plain, wrapped
from weft.cli.terminal.screen import Columns, Document, at, cell
from weft.core.findings import Finding
from weft.core.ids import format_condition_id


def test_of(one: Document) -> str:
    """Return how a condition is tested, as `tcp host=db port=5432`."""
    given = (f"{name}={value}" for name, value in sorted(one["parameters"].items()))
    return " ".join((one["tester"], *given))


def last_test(one: Document, *, width: int) -> str:
    """Return what the last test found, as far as there is room."""
    if one["tested_at"] is None:
        return "none yet"
    return cell(one["message"] or ("passed" if one["passed"] else "failed"), width=width)


INCIDENT: Final[Columns] = {
    "ID": lambda row: format_condition_id(row["condition_id"]),
    "Condition": "condition",
    "Test": lambda row: cell(test_of(row), width=48),
    "Since": at("since"),
    "Jobs": lambda row: f"{row['n_jobs']:,}",
    "Last test": lambda row: last_test(row, width=48),
    "Next test": at("next_test_at"),
}
"""Of an incident, in tables."""


MARKS = {"ok": "ok     ", "off": "off    ", "warning": "warning", "wrong": "WRONG  "}


def print_findings(findings: Iterable[Finding]) -> None:
    """Print each finding with its advice."""
    for finding in findings:
        first = f"{MARKS[finding.verdict]}  {finding.check:<11} "
        rest = " " * len(first)
        print(wrapped(plain(finding.found), sys.stdout, first=first, rest=rest))
        if finding.advice:
            print(wrapped(plain(finding.advice), sys.stdout, first=rest, rest=rest))
