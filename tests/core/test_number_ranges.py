"""Numbers of jobs as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.text.number_ranges import NUMBER_MAX, format_ranges, parse_ranges


@given(st.sets(st.integers(1, NUMBER_MAX), min_size=1, max_size=50))
def test_what_is_written_is_read(numbers: set[int]) -> None:
    assert parse_ranges(format_ranges(numbers), count_max=50) == sorted(numbers)


@cases(
    "text",
    ["", "x", "1,", "1-", "-3", "3-1", "0", "1-2-3", "1 - 2", "1-11", "1-6,5-11", "9" * 11,
     "1-2000000000", "2000000001", "\uff11"],
)  # fmt: skip
def test_what_is_wrong_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_ranges(text, count_max=10)
