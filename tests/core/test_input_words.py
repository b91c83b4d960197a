import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.extensions.each.rules.input_lines import LINE_BYTES_MAX
from weft.extensions.each.rules.input_words import WordSplitter, WordTemplate

TEXTS = st.lists(st.sampled_from([b"a", b"b", b" ", b"\t", b"\n", b"'", b'"', b"\\", b"\f"]))


def split(pieces: list[bytes], *, whole_lines: bool = False) -> tuple[list[bytes], str | None]:
    splitter = WordSplitter(whole_lines=whole_lines)
    found = [item for piece in pieces for item in splitter.feed(piece)] + splitter.finish()
    return [word for _, word in found], splitter.wrong


@given(TEXTS)
def test_words_do_not_depend_on_where_the_input_is_cut(pieces: list[bytes]) -> None:
    assert split(pieces) == split([b"".join(pieces)])


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
    assert split([text]) == (words, None)


def test_line_of_a_word_counts_lines_with_words_and_goes_on_after_a_blank() -> None:
    splitter = WordSplitter()

    assert splitter.feed(b"a b\n\n c \nd\ne\n") == [
        (1, b"a"), (1, b"b"), (2, b"c"), (2, b"d"), (3, b"e"),
    ]  # fmt: skip


def test_whole_lines_keep_their_blanks_but_the_first() -> None:
    assert split([b'  a b \n"c"  d\n'], whole_lines=True) == ([b"a b ", b"c  d"], None)


@pytest.mark.parametrize("text", [b"a 'b\nc'\n", b'a "b'])
def test_quote_without_a_partner_ends_the_input(text: bytes) -> None:
    words, wrong = split([text, b" c\n"]) if b"\n" in text else split([text])

    assert words == [b"a"]
    assert wrong is not None
    assert "has no partner" in wrong


def test_endless_word_ends_the_input() -> None:
    words, wrong = split([b"a ", b"x" * (LINE_BYTES_MAX + 1), b"y b "])

    assert words == [b"a"]
    assert wrong == f"a word has more than {LINE_BYTES_MAX} bytes"


def test_program_is_never_replaced_and_words_without_a_place_come_last() -> None:
    assert WordTemplate(["%", "a%b%"], "%").render(["x y"]) == ["%", "ax ybx y"]
    assert WordTemplate(["echo", "{}"]).render(["x", "y"]) == ["echo", "{}", "x", "y"]
