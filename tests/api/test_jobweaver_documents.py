"""What JobWeaver's clients are shown of attempts."""

from typing import Any

import pytest

from cases import cases
from weft_jobweaver.documents import (
    execution_document,
    is_execution,
    status_document,
)

JOB = {"foreign_id": "647f4b9a-7220-4f50-86d1-2d058def9ad5", "foreign_trace": "trace"}


def attempt(state: str, **more: object) -> dict[str, Any]:
    return {
        "attempt": 1,
        "state": state,
        "claimed_at": "2026-01-01T00:00:00+00:00",
        "reason": None,
        "started_at": None,
        "ended_at": None,
        "message": None,
        **more,
    }


def test_claimed_attempt_is_an_execution_that_runs() -> None:
    """As soon as its job is RUNNING."""
    claimed = attempt("running")

    assert is_execution(claimed)
    shown = execution_document(JOB, claimed)
    assert (shown["outcome"], shown["startedAt"]) == ("RUNNING", "2026-01-01T00:00:00Z")
    assert shown["finishedAt"] is None


@pytest.mark.parametrize(
    ("state", "is_one"), [("success", True), ("failed", True), ("ready", False)]
)
def test_attempt_that_was_given_back_is_none(state: str, *, is_one: bool) -> None:
    assert is_execution(attempt(state, ended_at="2026-01-01T00:00:01+00:00")) == is_one


@cases(
    ("state", "failed_at", "next_run_at"),
    [
        ("running", [], "2026-01-01T00:00:00Z"),
        ("failed", ["10:00"], "2026-01-01T00:00:00Z"),
        ("failed", ["10:00", "09:00"], "2026-01-01T09:00:10Z"),
        ("error", ["10:00", "09:00", "08:00"], "2026-01-01T09:00:20Z"),
        ("cancelled", ["10:00", "09:00"], "2026-01-01T10:00:20Z"),
        ("success", ["10:00"], "2026-01-01T10:00:10Z"),
    ],
)
def test_date_of_the_next_run_is_that_of_the_last_retry(
    state: str, failed_at: list[str], next_run_at: str
) -> None:
    """The failure that buries a job sets none: it keeps what the one before has set."""
    row: dict[str, Any] = {
        **JOB,
        "state": state,
        "n_failed": len(failed_at),
        "max_attempts": 4,
        "next_try_at": None,
        "failed_at": [f"2026-01-01T{one}:00+00:00" for one in failed_at[:2]],
        "attributes": {},
        "created_at": "2026-01-01T00:00:00+00:00",
        "updated_at": "2026-01-01T11:00:00+00:00",
        "last_error": "x",
    }

    assert status_document(row)["nextRunAt"] == next_run_at
