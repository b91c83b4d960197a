"""What `--rate` reads, and how it says what would have been right."""

from typing import Any

import pytest

from cases import cases
from weft.cli.input.limit_options import parse_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("api=10/1s", {"key": "api", "n": 10, "per_s": 1}),
        ("a/b=c=3/2m", {"key": "a/b=c", "n": 3, "per_s": 120}),
    ],
)
def test_rate_is_a_key_a_number_and_a_period(text: str, rate: dict[str, Any]) -> None:
    assert parse_rate(text) == rate


@cases(
    ("text", "said"),
    [
        ("api", "has no period: write it as api=10/1s"),
        ("api/1s", "has no number"),
        ("api=0/1s", "at least 1"),
        ("=1/1s", "has no key"),
        ("api=1/soon", "soon"),
    ],
)
def test_what_is_no_rate_is_refused_with_an_example(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_rate(text)
