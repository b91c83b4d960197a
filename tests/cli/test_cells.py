"""Texts in tables and sentences: whole in a pipe, as long as there is room on a terminal."""

import sys
from io import StringIO

import pytest

from weft.cli.commands.failures import _row as failure_row
from weft.cli.commands.jobs import _row as job_row
from weft.cli.commands.ls import _row as batch_row
from weft.cli.terminal.incidents import INCIDENT
from weft.cli.terminal.plain import wrapped
from weft.cli.terminal.screen import cells_of

LONG = "long " * 40
BATCH = {
    "id": 1,
    "name": LONG,
    "state": "success",
    "n_jobs": 1,
    "complete": True,
    "held": False,
    "n_completed": 1,
    "n_failed": 0,
    "n_errored": 0,
    "cost": 0,
    "duration_ms": 1,
    "created_at": None,
}
JOB = {"batch_id": 1, "job_id": 1, "name": LONG, "state": "success", "cost": 0}
FAILURE = {
    "batch_id": 1,
    "job_id": 1,
    "cause": "c",
    "state": "failed",
    "reason": "exit",
    "exit_code": 3,
    "signal": None,
    "final_retry_count": 0,
    "failed_at": None,
    "acknowledged": None,
    "message": LONG,
}
CONDITION = {
    "condition_id": 1,
    "condition": "custom",
    "tester": "path",
    "parameters": {"path": LONG},
    "since": None,
    "n_jobs": 1,
    "tested_at": "2026-01-01T00:00:00+00:00",
    "message": LONG,
    "next_test_at": None,
}


@pytest.mark.parametrize("is_terminal", [False, True])
def test_only_a_terminal_cuts_texts(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    rows = [batch_row(BATCH), job_row(JOB), failure_row(FAILURE), cells_of(INCIDENT, CONDITION)]

    texts = [cell for row in rows for cell in map(str, row) if "long" in cell]

    assert len(texts) == 5
    assert {cell.endswith("…") for cell in texts} == {is_terminal}
    assert is_terminal or all(LONG in cell for cell in texts)


TEXT = "The first sentence is here. `weft queue apply --dry-run FILE` shows it.\nAnother one."


class Screen(StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_whole_words_and_whole_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")

    assert wrapped(TEXT, Screen(), first="weft: ").split("\n") == [
        "weft: The first sentence is here.",
        "  `weft queue apply --dry-run FILE`",
        "  shows it.",
        "  Another one.",
    ]


def test_a_word_that_is_too_long_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = wrapped(f"`{'x' * 100} y`", Screen(), first="  ").split("\n")

    assert "".join(lines).replace(" ", "") == f"`{'x' * 100}y`"
    assert max(map(len, lines)) == 40


def test_a_file_gets_each_sentence_on_one_line() -> None:
    assert wrapped(TEXT, StringIO(), first="weft: ") == f"weft: {TEXT}".replace("\n", "\n  ")
