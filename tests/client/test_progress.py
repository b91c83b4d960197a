import sys
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

from weft.client.answer import Answer
from weft.client.progress_bar import Counts, Progress, draw_rich, rich_bar

STATUS = {
    "n_jobs": 10,
    "n_succeeded": 0,
    "n_failed": 1,
    "n_errored": 1,
    "n_cancelled": 0,
    "n_running": 4,
    "state": "running",
    "name": None,
    "cost": 0,
    "duration_ms": 1,
}


class Kernel:
    """What a notebook's IPython is to us."""

    def __init__(self) -> None:
        self.kernel = object()
        self.shown: list[dict[str, str]] = []

    def display(self, data: dict[str, str], *, raw: bool, display_id: bool) -> "Kernel":
        assert raw
        assert display_id
        self.shown.append(data)
        return self

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown[-1] = data


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    found = Kernel()
    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = lambda: found
    display: Any = ModuleType("IPython.display")
    display.display = found.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return found


def test_a_notebook_has_one_output_that_changes(kernel: Kernel) -> None:
    with Progress("b1 <b>", shown=None) as progress:
        assert kernel.shown == []
        progress.update({**STATUS, "n_completed": 1})
        progress.update({**STATUS, "n_completed": 10})
        result: Any = progress.result(Answer(STATUS))

    assert result == STATUS
    assert result._ipython_display_() is None, "a cell that ends with it shows no second output"
    (shown,) = kernel.shown
    assert shown["text/plain"] == "b1 <b>: 10/10, 4 running, 2 failed"
    assert "<b>b1 &lt;b&gt;</b>" in shown["text/html"]
    assert "10/10 (100%)" in shown["text/html"]


def test_a_job_that_runs_alone_says_how_far_it_is(kernel: Kernel) -> None:
    """It counts as a part of a job; of many that run it would say nothing about the batch."""
    said = {"job_id": 7, "percent": 50.0, "text": "[red]<b>" * 9, "attempt": 1}
    status = {**STATUS, "n_completed": 1, "n_jobs": 2, "progress": [said]}
    with Progress("b1", shown=None) as progress:
        progress.update({**status, "n_running": 1})
    one, many = (Counts.of({**status, "n_running": running}) for running in (1, 11))

    (shown,) = kernel.shown
    assert "(75%)" in shown["text/html"]
    assert "<div>j7: 50 %, [red]&lt;b&gt;" in shown["text/html"]
    assert (
        shown["text/plain"] == "b1: 1/2, 1 running, 2 failed; 50 %, [red]<b>[red]<b>[red]<b>[red]…"
    )
    assert [(counts.parts, bool(counts.said())) for counts in (one, many)] == [
        (1.5, True),
        (1, False),
    ]
    bar = rich_bar("b1", Console())
    draw_rich(bar, one)
    assert bar.tasks[0].completed == 1.5
    assert Text.from_markup(bar.tasks[0].fields["counts"]).plain.endswith("[red]…")


def test_what_is_no_batch_is_a_bar_in_a_notebook(kernel: Kernel) -> None:
    with Progress("submit <b>", shown=None, total=2) as progress:
        progress.advance(2)

    (shown,) = kernel.shown
    assert shown["text/html"] == 'submit &lt;b&gt; <progress value="2" max="2"></progress> 2/2'


def test_ipython_on_a_terminal_is_no_notebook(kernel: Kernel) -> None:
    del kernel.kernel

    with Progress("b1", shown=None) as progress:
        assert not progress.is_shown
    assert kernel.shown == []


def test_lines_come_when_a_tenth_more_is_done(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("submit", shown=True, total=2_000) as progress:
        for _ in range(20):
            progress.advance(100)

    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "submit: 2,000/2,000"
    assert len(lines) <= 11


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        (Counts(0, None), "0"),
        (Counts(0, 0), "0/0"),
        (Counts(1_000, 2_000, running=3), "1,000/2,000, 3 running"),
    ],
)
def test_counts_in_words(counts: Counts, text: str) -> None:
    assert counts.text() == text
