"""`weft top` on screens of several widths."""

import pytest

from weft.cli.commands.top import GAP, fit_columns

NEEDS = {
    "Batch": 3,
    "Name": 30,
    "User": 8,
    "State": 9,
    "Progress": 20,
    "Running": 7,
    "Failed": 6,
    "Cost": 8,
    "Took": 6,
}


@pytest.mark.parametrize("width", [76, 80, 100, 120, 160])
def test_a_table_is_no_wider_than_the_screen(width: int) -> None:
    fitted = fit_columns(NEEDS, width)

    assert sum(fitted.values()) + GAP * (len(fitted) - 1) <= width
    assert {name: fitted[name] for name in fitted if name != "Name"}.items() <= NEEDS.items()


def test_a_usual_screen_keeps_what_matters() -> None:
    assert list(fit_columns(NEEDS, 80)) == [
        "Batch",
        "Name",
        "State",
        "Progress",
        "Running",
        "Failed",
        "Took",
    ]


def test_a_wide_screen_shows_everything() -> None:
    assert fit_columns(NEEDS, 160) == NEEDS
