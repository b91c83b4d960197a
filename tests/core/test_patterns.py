"""Patterns of others: which are small enough."""

import pytest

from cases import cases
from weft.core.text.patterns import WrongPattern, check_pattern


@cases(
    "text",
    [
        "",
        "a+b*c?",
        r"^chr(\d{1,2}|X|Y)$",
        "(?i)pca",
        "(?:a|b){2}",
        r"\.bam$",
        "[a-z]{3}",
        r"\{[{}()*]\}",
        "(a{2})?b{3}?",
    ],
)
def test_small_patterns_are_taken(text: str) -> None:
    check_pattern(text)


@cases(
    ("text", "reason"),
    [
        ("a" * 101, "101 characters, at most 100"),
        (r"(\w{90})+$", "repeats 90 times, at most 10"),
        ("a{3,11}", "repeats 11 times"),
        ("a{99999999999999999999}", "repeats 999999999 times"),
        ("(a{9})+", "cannot stand in what is repeated"),
        ("((a{9})b){9}", "cannot stand in what is repeated"),
        ("((a{9}b))*", "cannot stand in what is repeated"),
        (r"\w" * 11, "at most 10 classes"),
        (r"\w\pL{9}", "one beside a counted repetition"),
        ("a{9}{9}", "cannot stand in what is repeated"),
        ("a{9}?{9}", "cannot stand in what is repeated"),
        ("(a{9}[)])+", "cannot stand in what is repeated"),
        ("a{ 90 }", "{ cannot stand here"),
        ("[]a]", "in brackets"),
        ("[a[b]]", "in brackets"),
        ("(?x)a{9 }", "(?x cannot stand here"),
        ("(?P<a>b)", "(?P<a>b cannot stand here"),
    ],
)
def test_patterns_that_grow_are_refused(text: str, reason: str) -> None:
    with pytest.raises(WrongPattern) as refused:
        check_pattern(text)

    assert reason in str(refused.value)


@cases("text", [r"\w", r"\p{L}", "a{2}", r"\b"])
def test_in_a_loop_a_pattern_costs_next_to_nothing(text: str) -> None:
    check_pattern(text)
    with pytest.raises(WrongPattern):
        check_pattern(text, repeated=True)
