"""What a retry may ask for beyond the attempt before it."""

import pytest

from cases import cases
from weft.core.ends.retry_with import REQUESTS_MAX, MoreRule, combinations, ladder, parse_factor


@cases(("first", "factor", "last", "values"), [
    (512, 2, 4096, [512, 1024, 2048, 4096]),
    (1000, 2, 3500, [1000, 2000, 3500]),
    (3, 1.5, 8, [3, 5, 8]),
    (1, 1.01, 3, [1, 2, 3]),
])  # fmt: skip
def test_a_size_grows_up_to_its_limit(
    first: int, factor: float, last: int, values: list[int]
) -> None:
    assert ladder(first, factor, last) == values


def test_a_ladder_has_a_limited_number_of_steps() -> None:
    assert len(ladder(1, 2, 2**30)) < REQUESTS_MAX
    with pytest.raises(ValueError, match=f"more than {REQUESTS_MAX}"):
        ladder(10**6, 1.001, 10**9)


@cases(("given", "factor"), [
    ("x2", 2), ("×1.5", 1.5), ("X 3", 3), ("2Gi", None), (2, None), ("2x", None),
])  # fmt: skip
def test_factors(given: object, factor: float | None) -> None:
    assert parse_factor(given) == factor


@cases("given", ["x1", "x0", "x0.5", "x101"])
def test_a_factor_makes_more(given: str) -> None:
    with pytest.raises(ValueError, match="no factor"):
        parse_factor(given)


def test_combinations_change_what_has_come_further() -> None:
    memory = MoreRule(after=1, values=[1, 2, 4], size="memory_mib")
    stays = MoreRule(after=1, values=["yes", None], word="preemptible")

    assert [*combinations([memory, stays])] == [
        {}, {"preemptible": None}, {"memory_mib": 2}, {"memory_mib": 2, "preemptible": None},
        {"memory_mib": 4}, {"memory_mib": 4, "preemptible": None},
    ]  # fmt: skip
