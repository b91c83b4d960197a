"""Conditions that blocked jobs wait for, as lines of a table."""

from collections.abc import Mapping
from typing import Any

from weft.cli.terminal.plain import cell, moment
from weft.core.ids import format_condition_id

Document = Mapping[str, Any]
INCIDENT_HEADER = ("ID", "Condition", "Test", "Since", "Jobs", "Last test", "Next test")


def incident_row(one: Document) -> tuple[str, ...]:
    """Return an incident as a line of a table."""
    return (
        format_condition_id(one["condition_id"]),
        one["condition"],
        cell(test_of(one), width=48),
        moment(one["since"]),
        f"{one['n_jobs']:,}",
        last_test(one, width=48),
        moment(one["next_test_at"]),
    )


def test_of(one: Document) -> str:
    """Return how a condition is tested, as `tcp host=db port=5432`."""
    given = (f"{name}={value}" for name, value in sorted(one["parameters"].items()))
    return " ".join((one["tester"], *given))


def last_test(one: Document, *, width: int) -> str:
    """Return what the last test found, as far as there is room."""
    if one["tested_at"] is None:
        return "none yet"
    return cell(one["message"] or ("passed" if one["passed"] else "failed"), width=width)
