"""Texts: durations, ranges of numbers, words with a typing error, patterns and escapes; what a
person reads of an error that a program did not catch.
"""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.errors import CallDied, FieldError, InvalidDocument
from weft.core.errors.kinds import FIELDS_SHOWN
from weft.core.text.durations import parse_seconds
from weft.core.text.escapes import ESCAPE, begun_sequence, only_colours, without_escapes
from weft.core.text.number_ranges import NUMBER_MAX, format_ranges, parse_ranges
from weft.core.text.patterns import WrongPattern, check_pattern
from weft.core.text.texts import nearest


@cases(
    ("text", "seconds"),
    [
        ("90", 90),
        (90, 90),
        (0.5, 0.5),
        ("1.5", 1.5),
        ("10m", 600),
        ("10M", 600),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2d", 172_800),
        ("1.5h", 5400),
        ("250ms", 0.25),
        ("30:00", 1800),
        ("2:00:00", 7200),
        ("1-12:00:00", 129_600),
    ],
)
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


@cases("value", ["0s", "500ms", "-1h", "25h", "9" * 400])
def test_what_is_good_for_some_days_has_bounds(value: str) -> None:
    with pytest.raises(ValueError, match="from 1s to 1d"):
        parse_seconds(value, days=1)


@given(st.one_of(st.text(), st.floats(), st.integers()))
def test_no_value_breaks_the_parser(value: str | float) -> None:
    with contextlib.suppress(ValueError):
        assert parse_seconds(value) > 0


@given(st.sets(st.integers(1, NUMBER_MAX), min_size=1, max_size=50))
def test_what_is_written_is_read(numbers: set[int]) -> None:
    assert parse_ranges(format_ranges(numbers), count_max=50) == sorted(numbers)


@cases(
    "text",
    [
        "",
        "x",
        "1,",
        "1-",
        "-3",
        "3-1",
        "0",
        "1-2-3",
        "1 - 2",
        "1-11",
        "1-6,5-11",
        "9" * 11,
        "1-2000000000",
        "2000000001",
        "\uff11",
    ],
)
def test_what_is_wrong_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_ranges(text, count_max=10)


WORDS = ("name", "jobs", "env", "timeout_s", "command", "--jobs", "--env", "-q", "priority")


@cases(
    ("written", "meant"),
    [
        ("comand", "command"),
        ("timeout", "timeout_s"),
        ("jbos", "jobs"),
        ("--job", "--jobs"),
        ("priorty", "priority"),
    ],
)
def test_a_typing_error_is_corrected(written: str, meant: str) -> None:
    assert nearest(written, WORDS) == meant


@cases("written", ["", "q", "--q", "en", "--jo", "nothing", "enough", "comment"])
def test_a_short_word_and_another_word_get_no_suggestion(written: str) -> None:
    assert nearest(written, WORDS) is None


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


PIECES = st.lists(
    st.sampled_from(["\x1b", "[", "31", ";", "m", "J", "?", " ", "\x9b", "\u202e", "\a", "é\n\t"])
    | st.text(max_size=5)
)


@given(PIECES)
def test_nothing_that_steers_is_left(pieces: list[str]) -> None:
    text = "".join(pieces)

    plain = without_escapes(text)
    coloured = only_colours(text)

    assert ESCAPE.search(plain) is None
    left = {match[0] for match in ESCAPE.finditer(coloured)}
    assert all(one == "\r" or (one.startswith("\x1b[") and one.endswith("m")) for one in left)


@cases("text", ["\x1b[31", "a\x1b", "\x1b[?25", "\x1b[0;1 "])
def test_begun_sequence_waits(text: str) -> None:
    assert begun_sequence(text) == text.lstrip("a")


@cases("text", ["", "\x1b[31m", "\x1b]", f"\x1b[{'1' * 100}", "[31"])
def test_others_do_not_wait(text: str) -> None:
    assert begun_sequence(text) == ""


@cases(
    ("codes", "shown"),
    [
        ("8", None),
        ("08", None),
        ("0008", None),
        ("1;8;31", "1;31"),
        ("8:0", None),
        ("1:8", None),
        ("38;9;8", "38;9"),
        ("12;20;28;53", None),
        ("", ""),
        ("0", "0"),
        ("38;5;8", "38;5;8"),
        ("48;2;8;8;8;8", "48;2;8;8;8"),
        ("38:5:8;8", "38:5:8"),
        ("4:3", "4:3"),
        ("1;;31", "1;;31"),
        ("9" * 5000, None),
    ],
)
def test_nothing_is_concealed(codes: str, shown: str | None) -> None:
    wanted = "" if shown is None else f"\x1b[{shown}m"
    assert only_colours(f"\x1b[{codes}mtext") == f"{wanted}text"


def test_an_error_as_text_says_what_why_and_what_to_do() -> None:
    error = CallDied("job j3 ended without a result: bad_spec", detail="No such directory.")

    assert str(error).splitlines() == [
        "job j3 ended without a result: bad_spec",
        "  No such directory.",
        "  `weft logs` shows its output.",
    ]


def test_an_error_as_text_names_all_offending_fields() -> None:
    wrong = [FieldError("/jobs/0/resources/cpu", "at least 0.001"), FieldError("", "no jobs")]
    error = InvalidDocument("the document is wrong", detail="2 fields.", errors=wrong, hint="Fix.")

    assert str(error).splitlines() == [
        "the document is wrong",
        "  /jobs/0/resources/cpu: at least 0.001",
        "  /: no jobs",
        "  Fix.",
    ]


def test_an_error_as_text_has_an_end() -> None:
    wrong = [FieldError(f"/jobs/{number}", "too long") for number in range(1000)]
    lines = str(InvalidDocument("wrong", errors=wrong)).splitlines()

    assert f"  … and {1000 - FIELDS_SHOWN} more" in lines
    assert len(lines) < FIELDS_SHOWN + 5


@cases(
    ("detail", "shown"),
    [
        ("/jobs/0/comand: no such field; did you mean command?.", "did you mean command?"),
        ("It is over..", "It is over."),
        ("It is cut….", "It is cut…"),
        ("It goes on...", "It goes on..."),
        ("It is plain.", "It is plain."),
    ],
)
def test_a_reason_ends_with_one_mark(detail: str, shown: str) -> None:
    error = InvalidDocument("wrong", detail=detail)

    assert error.detail.endswith(shown)
    assert error.detail.rstrip(".?…") == detail.rstrip(".?…")
