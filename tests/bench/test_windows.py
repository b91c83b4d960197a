"""Percentiles of windows, compared, and figures of runs."""

import pytest

from benches.fairness import jain
from benches.windows import Ratio, ratio_of_windows
from weft.bench.figures import Headline, document_of, median_rate, percentile, ratio_of
from weft.bench.plan import BenchPlan
from weft.bench.runners import RunnersRun

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


def test_ratio_is_how_many_times_the_reference() -> None:
    assert ratio_of(3.0, 2.0) == 1.5
    assert ratio_of(3.0, 0.0) == 0.0


def test_index_of_jain_is_one_if_all_have_the_same() -> None:
    assert jain([2.0, 2.0, 2.0]) == 1.0
    assert jain([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain([0.0]) == 0.0


def test_median_is_a_whole_number_of_jobs_a_second() -> None:
    assert median_rate([1.0, 1000.4, 2000.0]) == 1000


def test_percentiles_of_few_values_are_among_them() -> None:
    assert percentile([5.0], 99) == 5.0
    assert percentile([1.0, 2.0, 3.0, 4.0], 50) == 2.5


def test_plan_scales_jobs_and_keeps_at_least_one() -> None:
    assert BenchPlan(scale=0.1).jobs_of(20_000) == 2_000
    assert BenchPlan(jobs=30, scale=0.1).jobs_of(20_000) == 3
    assert BenchPlan(scale=0.0001).jobs_of(500) == 1
    assert BenchPlan(rounds=2).rounds_of(5) == 2


def test_rate_of_a_part_counts_the_jobs_between_its_ends() -> None:
    run = RunnersRun(began_at=0.0, calls=[(1.0, 10), (3.0, 10), (4.0, 10), (5.0, 10)])

    assert run.rate == 8.0
    assert run.rate_between(0.0, 0.25) == 10.0
    assert run.rate_between(0.25, 0.5) == 5.0


def test_rate_of_less_than_one_call_is_that_of_its_time() -> None:
    run = RunnersRun(began_at=0.0, calls=[(1.0, 10), (3.0, 10)])

    assert run.rate_between(0.9, 1.0) == pytest.approx(5.0)


def test_document_begins_with_its_headline_and_ends_with_its_conditions() -> None:
    found = document_of(Headline("ms", 2, 4, 0.5), {"rounds": [2]}, {"cores": 2})

    assert list(found.items()) == [
        ("unit", "ms"),
        ("weft", 2),
        ("reference", 4),
        ("ratio", 0.5),
        ("rounds", [2]),
        ("conditions", {"cores": 2}),
    ]
