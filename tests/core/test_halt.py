import pytest

from cases import cases
from weft.extensions.each.rules.halt import Halt, parse_halt


@cases("text", ["now,fail=1", "soon,success=20", "now,done=3", "soon,fail=10%"])
def test_a_rule_is_read_as_it_is_written(text: str) -> None:
    assert str(parse_halt(text)) == text


@cases("text", ["", "now", "fail=1", "now,fail=0", "now,fail=0%", "now,fail=101%", "later,fail=1"])
def test_other_texts_are_not_rules(text: str) -> None:
    with pytest.raises(ValueError):
        parse_halt(text)


def test_never_is_no_rule() -> None:
    assert parse_halt("never") is None


@cases(
    ("kind", "n_failed", "n_succeeded", "reached"),
    [("fail", 2, 0, True), ("fail", 1, 9, False), ("success", 9, 1, False), ("done", 1, 1, True)],
)
def test_the_kind_says_what_counts(
    kind: str, n_failed: int, n_succeeded: int, *, reached: bool
) -> None:
    rule = parse_halt(f"now,{kind}=2")

    assert isinstance(rule, Halt)
    assert rule.is_reached(n_failed=n_failed, n_succeeded=n_succeeded) is reached


@cases(("n_jobs", "count"), [(0, 1), (1, 1), (10, 1), (11, 2), (20, 2)])
def test_a_share_is_of_all_jobs(n_jobs: int, count: int) -> None:
    rule = parse_halt("soon,fail=10%")

    assert rule is not None
    assert rule.among(n_jobs).count == count
    assert str(rule.among(n_jobs)) == "soon,fail=10%"
