"""What steers a terminal is recognised, in pieces and in linear time."""

from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft.core.text.escapes import ESCAPE, begun_sequence, only_colours, without_escapes

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
        ("8", None), ("08", None), ("0008", None), ("1;8;31", "1;31"), ("8:0", None),
        ("1:8", None), ("38;9;8", "38;9"), ("12;20;28;53", None), ("", ""), ("0", "0"),
        ("38;5;8", "38;5;8"), ("48;2;8;8;8;8", "48;2;8;8;8"), ("38:5:8;8", "38:5:8"),
        ("4:3", "4:3"), ("1;;31", "1;;31"), ("9" * 5000, None),
    ],
)  # fmt: skip
def test_nothing_is_concealed(codes: str, shown: str | None) -> None:
    wanted = "" if shown is None else f"\x1b[{shown}m"
    assert only_colours(f"\x1b[{codes}mtext") == f"{wanted}text"
