"""What JobWeaver's clients are shown of attempts."""

from typing import Any

import pytest

from weft.doors.jobweaver.documents import execution_document, is_execution

JOB = {"foreign_id": "647f4b9a-7220-4f50-86d1-2d058def9ad5", "foreign_trace": "trace"}


def attempt(state: str, **more: object) -> dict[str, Any]:
    return {
        "attempt": 1, "state": state, "claimed_at": "2026-01-01T00:00:00+00:00", "reason": None,
        "started_at": None, "ended_at": None, "message": None, **more,
    }  # fmt: skip


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
