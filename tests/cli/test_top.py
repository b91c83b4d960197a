"""`weft top` on screens of several widths."""

from rich.console import Console

from cases import cases
from weft.cli.terminal.screen import GAP, fit_columns
from weft.extensions.top.command import SPARE, _render

NEEDS = {
    "Batch": 3, "Name": 30, "User": 8, "State": 9, "Progress": 20, "Running": 7, "Failed": 6,
    "Cost": 8, "Took": 6,
}  # fmt: skip


@cases("width", [76, 80, 100, 120, 160])
def test_a_table_is_no_wider_than_the_screen(width: int) -> None:
    fitted = fit_columns(NEEDS, width, SPARE)

    assert sum(fitted.values()) + GAP * (len(fitted) - 1) <= width
    assert {name: fitted[name] for name in fitted if name != "Name"}.items() <= NEEDS.items()


def test_a_usual_screen_keeps_what_matters() -> None:
    assert list(fit_columns(NEEDS, 80, SPARE)) == [
        "Batch",
        "Name",
        "State",
        "Progress",
        "Running",
        "Failed",
        "Took",
    ]


def test_a_wide_screen_shows_everything() -> None:
    assert fit_columns(NEEDS, 160, SPARE) == NEEDS


def test_an_incident_is_one_line() -> None:
    incident = {
        "condition_id": 3, "condition": "quota", "tester": "tcp", "parameters": {"host": "db"},
        "since": "2026-11-22T00:00:00Z", "n_jobs": 9412, "next_test_at": "2026-11-22T00:10:00Z",
        "tested_at": "2026-11-22T00:09:00Z", "passed": False, "message": "no answer",
    }  # fmt: skip
    console = Console(width=160)
    with console.capture() as printed:
        console.print(_render("x", {"workers": [], "blocked": 9412}, [], [incident], width=160))
    (line,) = [one for one in printed.get().splitlines() if "tcp host=db" in one]

    assert line.split()[:2] == ["c3", "quota"]
    assert "9,412" in line
    assert "no answer" in line


def test_texts_are_cut_before_a_column_is_left_out() -> None:
    needs = {"Job": 6, "Name": 40, "Why": 60, "Ended": 19}

    assert fit_columns(needs, 80, ["Ended"]) == {"Job": 6, "Name": 37, "Why": 12, "Ended": 19}
    assert fit_columns(needs, 40, ["Ended"]) == {"Job": 6, "Name": 18, "Why": 12}
