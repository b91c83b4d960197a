import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.text.durations import parse_seconds


@cases(
    ("text", "seconds"),
    [
        ("90", 90), (90, 90), (0.5, 0.5), ("1.5", 1.5), ("10m", 600), ("10M", 600),
        ("1h30m", 5400), ("1h 30m", 5400), ("2d", 172_800), ("1.5h", 5400), ("250ms", 0.25),
        ("30:00", 1800), ("2:00:00", 7200), ("1-12:00:00", 129_600),
    ],
)  # fmt: skip
def test_durations_as_people_write_them(text: str | float, seconds: float) -> None:
    assert parse_seconds(text) == seconds


@cases("value", ["", "soon", "1x", "1:2:3:4", "nan", float("inf"), True, None])
def test_what_is_no_duration_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_seconds(value)  # type: ignore[arg-type]  # wrong types are the point


@cases(
    ("value", "message"),
    [(0, "no time"), ("0s", "no time"), (-1, "negative"), ("-1h", "negative")],
)
def test_zero_and_less_have_a_message_each(value: str | float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_seconds(value)


@given(st.one_of(st.text(), st.floats(), st.integers()))
def test_no_value_breaks_the_parser(value: str | float) -> None:
    with contextlib.suppress(ValueError):
        assert parse_seconds(value) > 0
