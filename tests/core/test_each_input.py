"""The input of `weft each`: lines, words, the limit of jobs and when it halts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft_each.parts.each_input import parse_job_limit
from weft_each.rules.halt import Halt, parse_halt
from weft_each.rules.input_lines import LINE_BYTES_MAX, CommandTemplate, LineSplitter
from weft_each.rules.input_words import WordSplitter, WordTemplate


def split_lines(
    data: bytes, cuts: list[int], separator: bytes | None = None
) -> list[tuple[int, bytes]]:
    splitter = LineSplitter(separator)
    found = []
    ends = sorted(cut % (len(data) + 1) for cut in cuts)
    for start, end in zip([0, *ends], [*ends, len(data)], strict=True):
        found += splitter.feed(data[start:end])
    return found + splitter.finish()


@given(st.binary(max_size=200), st.lists(st.integers(0, 1000), max_size=5))
def test_lines_do_not_depend_on_where_the_input_is_cut(data: bytes, cuts: list[int]) -> None:
    expected = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line]

    assert split_lines(data, cuts) == expected


def test_items_between_nul_may_hold_newlines_and_be_empty() -> None:
    assert split_lines(b"a\nb\0\0c", [], b"\0") == [(1, b"a\nb"), (2, b""), (3, b"c")]


def test_empty_lines_are_no_items_but_are_counted() -> None:
    assert split_lines(b"\na\n\nb\n", []) == [(2, b"a"), (4, b"b")]


def test_an_endless_line_does_not_fill_the_memory_and_the_next_one_is_whole() -> None:
    splitter = LineSplitter()
    splitter.feed(b"one\n")
    for _ in range(5):
        assert splitter.feed(b"x" * LINE_BYTES_MAX) == []
    (long, after) = splitter.feed(b"\nthree\n")

    assert (long[0], after) == (2, (3, b"three"))
    assert len(long[1]) == LINE_BYTES_MAX + 1


@cases(
    ("placeholder", "line", "expected"),
    [
        ("{}", "a b/c.tar.gz", "a b/c.tar.gz"),
        ("{.}", "a b/c.tar.gz", "a b/c.tar"),
        ("{.}", "dir.d/file", "dir.d/file"),
        ("{.}", "d/.rc", "d/"),
        ("{.}", "d/x.", "d/x."),
        ("{/}", "a/b/c.txt", "c.txt"),
        ("{/.}", "a/b.d/c.txt", "c"),
        ("{//}", "a/b/c.txt", "a/b"),
        ("{//}", "c.txt", "."),
        ("{//}", "/c.txt", "/"),
        ("{#}", "x", "7"),
        ("<{}>{#}", "x", "<x>7"),
        ("{}", "{/}", "{/}"),
        ("{other}", "x", "{other}"),
    ],
)
def test_placeholders(placeholder: str, line: str, expected: str) -> None:
    template = CommandTemplate(("{}", placeholder))

    assert template.render([line], 7) == [line, expected]


def test_a_command_without_placeholder_gets_the_line_as_last_argument() -> None:
    assert CommandTemplate(("wc", "-l")).render(["it's a file"], 1) == ["wc", "-l", "it's a file"]


@cases(
    ("words", "repeats", "expected"),
    [
        (["echo"], True, ["echo", "a/b.c", "d"]),
        (["echo", "{}", "end"], True, ["echo", "a/b.c", "d", "end"]),
        (["echo", "x{/.}y"], True, ["echo", "xby", "xdy"]),
        (["echo", "{}", "x{}y"], False, ["echo", "a/b.c", "d", "xa/b.c dy"]),
        (["{2}", "{1/}", "{-1}", "{3}", "{1}-{2}"], True, ["d", "b.c", "d", "", "a/b.c-d"]),
        (["{#}", "{}{2}"], True, ["7", "a/b.cd", "dd"]),
    ],
)
def test_several_values(words: list[str], *, repeats: bool, expected: list[str]) -> None:
    template = CommandTemplate(words, has_positions=True, repeats=repeats)

    assert template.render(["a/b.c", "d"], 7) == expected


def test_positions_are_text_unless_there_are_several_values() -> None:
    assert CommandTemplate(("grep", "a{2}")).render(["x"], 1) == ["grep", "a{2}", "x"]


def test_another_text_may_stand_for_the_value() -> None:
    template = CommandTemplate(("echo", "{}", "X+", "{/}"), whole="X+")

    assert template.render(["a/b"], 1) == ["echo", "{}", "a/b", "b"]


TEXTS = st.lists(st.sampled_from([b"a", b"b", b" ", b"\t", b"\n", b"'", b'"', b"\\", b"\f"]))


def split_words(
    pieces: list[bytes], *, whole_lines: bool = False
) -> tuple[list[bytes], str | None]:
    splitter = WordSplitter(whole_lines=whole_lines)
    found = [item for piece in pieces for item in splitter.feed(piece)] + splitter.finish()
    return [word for _, word in found], splitter.wrong


@given(TEXTS)
def test_words_do_not_depend_on_where_the_input_is_cut(pieces: list[bytes]) -> None:
    assert split_words(pieces) == split_words([b"".join(pieces)])


@cases(
    ("text", "words"),
    [
        (b"a b\tc\nd", [b"a", b"b", b"c", b"d"]),
        (b" 'a b'\"c d\"e \\' ", [b"a bc de", b"'"]),
        (b"'' x\n", [b"", b"x"]),
        (b"a\\\nb\n", [b"a\nb"]),
        (b"\"it's\" 'a\\b'", [b"it's", b"a\\b"]),
        (b"a\fb\n\fc\n", [b"a\fb", b"c"]),
        (b"a\\", [b"a"]),
        (b"\n \n\t\n", []),
    ],
)
def test_words(text: bytes, words: list[bytes]) -> None:
    assert split_words([text]) == (words, None)


def test_line_of_a_word_counts_lines_with_words_and_goes_on_after_a_blank() -> None:
    splitter = WordSplitter()

    assert splitter.feed(b"a b\n\n c \nd\ne\n") == [
        (1, b"a"),
        (1, b"b"),
        (2, b"c"),
        (2, b"d"),
        (3, b"e"),
    ]


def test_whole_lines_keep_their_blanks_but_the_first() -> None:
    assert split_words([b'  a b \n"c"  d\n'], whole_lines=True) == ([b"a b ", b"c  d"], None)


@pytest.mark.parametrize("text", [b"a 'b\nc'\n", b'a "b'])
def test_quote_without_a_partner_ends_the_input(text: bytes) -> None:
    words, wrong = split_words([text, b" c\n"]) if b"\n" in text else split_words([text])

    assert words == [b"a"]
    assert wrong is not None
    assert "has no partner" in wrong


def test_endless_word_ends_the_input() -> None:
    words, wrong = split_words([b"a ", b"x" * (LINE_BYTES_MAX + 1), b"y b "])

    assert words == [b"a"]
    assert wrong == f"a word has more than {LINE_BYTES_MAX} bytes"


def test_program_is_never_replaced_and_words_without_a_place_come_last() -> None:
    assert WordTemplate(["%", "a%b%"], "%").render(["x y"]) == ["%", "ax ybx y"]
    assert WordTemplate(["echo", "{}"]).render(["x", "y"]) == ["echo", "{}", "x", "y"]


@cases(
    ("text", "on_four_cores"),
    [
        ("3", 3),
        ("0", 0),
        ("50%", 2),
        ("51%", 3),
        ("12.5%", 1),
        ("1%", 1),
        ("0%", 1),
        ("250%", 10),
        ("+2", 6),
        ("-1", 3),
        ("-9", 1),
        ("+0", 4),
    ],
)
def test_limit_is_a_number_or_counts_from_the_cores(text: str, on_four_cores: int) -> None:
    assert parse_job_limit(text).on(4) == on_four_cores


@cases("text", ["", "x", "1.5", "%", "-5%", "1e3", "²", "9" * 20, "2 "])
def test_other_texts_are_no_limits(text: str) -> None:
    with pytest.raises(ValueError):
        parse_job_limit(text)


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
