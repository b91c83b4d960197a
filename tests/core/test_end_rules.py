"""Exit codes, ranges and signals after which a job is tried again."""

import pytest

from cases import cases
from weft.core.ends.end_rules import parse_codes, parse_end_signal


@cases(("given", "range_"), [(3, (3, 3)), ("3", (3, 3)), ("10-20", (10, 20)), ("1-255", (1, 255))])
def test_codes_and_ranges_are_read(given: str | int, range_: tuple[int, int]) -> None:
    assert parse_codes(given) == range_


@cases(
    "given", [0, -1, 256, "0", "20-10", "3-", "-3", "1-256", "x", "", "²", " 3", True, "9" * 100]
)
def test_other_codes_are_refused(given: str | int) -> None:
    with pytest.raises(ValueError, match="is no exit code of a failure"):
        parse_codes(given)


@cases("word", ["USR1", "SIGUSR1", "usr1", "10"])
def test_signals_have_names_and_numbers(word: str) -> None:
    assert parse_end_signal(word) == 10


@cases("word", ["", "0", "99", "-1", "NONSENSE", "²"])
def test_other_signals_of_ends_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="there is no signal"):
        parse_end_signal(word)
