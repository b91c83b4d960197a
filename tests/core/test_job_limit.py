import pytest

from cases import cases
from weft.extensions.each.parts.each_input import parse_job_limit


@cases(
    ("text", "on_four_cores"),
    [
        ("3", 3), ("0", 0), ("50%", 2), ("51%", 3), ("12.5%", 1), ("1%", 1), ("0%", 1),
        ("250%", 10), ("+2", 6), ("-1", 3), ("-9", 1), ("+0", 4),
    ],
)  # fmt: skip
def test_limit_is_a_number_or_counts_from_the_cores(text: str, on_four_cores: int) -> None:
    assert parse_job_limit(text).on(4) == on_four_cores


@cases("text", ["", "x", "1.5", "%", "-5%", "1e3", "²", "9" * 20, "2 "])
def test_other_texts_are_no_limits(text: str) -> None:
    with pytest.raises(ValueError):
        parse_job_limit(text)
