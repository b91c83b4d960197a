"""Percentiles of windows, compared."""

import pytest

from benches.windows import Ratio, ratio_of_windows
from weft.bench.figures import percentile

EVEN = [[1.0, 2.0, 3.0]] * 10


def test_ratio_of_the_same_is_one() -> None:
    assert ratio_of_windows(EVEN, EVEN, 99) == Ratio(1.0, 1.0, 1.0, 10)


def test_percentile_is_that_of_all_requests() -> None:
    """Neither the mean of the windows' percentiles nor that of the worst window."""
    compared = [[1.0] * 90 + [9.0] * 10, [1.0] * 300]
    reference = [[2.0] * 10, [2.0] * 10]
    found = ratio_of_windows(compared, reference, 99)

    assert found.middle == percentile([*compared[0], *compared[1]], 99) / 2 == 4.5
    assert ratio_of_windows(compared, reference, 90).middle == 0.5


def test_one_disturbed_round_decides_nothing() -> None:
    """Its requests are one disturbance, not many: measured again, there might be none of it."""
    quiet = [[1.0] * 20] * 10
    disturbed = [*quiet[1:], [1.0] * 10 + [2.0] * 10]
    found = ratio_of_windows(disturbed, quiet, 99)

    assert found == Ratio(2.0, 1.0, 2.0, 10)
    assert found.verdict(1.2) == "undecided"


def test_what_disturbs_each_round_decides() -> None:
    disturbed = [[1.0] * 9 + [2.0]] * 10
    found = ratio_of_windows(disturbed, [[1.0] * 10] * 10, 99)

    assert found.verdict(1.2) == "beyond"
    assert found.verdict(2.0) == "within"


def test_few_rounds_decide_nothing() -> None:
    assert ratio_of_windows(EVEN[:1], EVEN[:1], 99).verdict(1.2) == "undecided"
    assert ratio_of_windows(EVEN, EVEN, 99).verdict(1.2) == "within"


def test_kinds_have_the_same_rounds() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratio_of_windows(EVEN, EVEN[1:], 99)
