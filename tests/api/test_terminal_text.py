"""Output of jobs as HTML: text and colours, and nothing that the job has made up."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import cases
from weft_pages.logs import Style, TerminalText, terminal_html

TAG = re.compile(r'<span class="(?:a-[a-z]+[0-9]*)(?: a-[a-z]+[0-9]*)*">|</span>')
FORBIDDEN = re.compile(
    "[<>\"'\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
HOSTILE = st.sampled_from(
    [
        b"\x1b[31m",
        b"\x1b[1;4",
        b"m",
        b"\x1b[0m",
        b"\x1b[38;5;200m",
        b"\x1b[48;2;1;2",
        b";3m",
        b"\x1b[38;5m",
        b"\x1b[2J",
        b"\x1b]0;title\a",
        b"\x1b",
        b"[",
        b"<script>",
        b'</span>"',
        b"\x00",
        b"\xff",
        "é".encode()[:1],
        "\u202e\x9b".encode(),
        b"\r",
        b"\n",
        b"&lt;",
    ]
)


@given(st.lists(HOSTILE | st.binary(max_size=8)))
def test_output_has_no_tag_but_span_and_no_control_character(pieces: list[bytes]) -> None:
    html = str(terminal_html(b"".join(pieces)))

    tags = TAG.findall(html)
    assert not FORBIDDEN.search(TAG.sub("", html))
    assert tags == [one for pair in zip(tags[::2], tags[1::2], strict=True) for one in pair]
    assert all(one == "</span>" for one in tags[1::2])


@given(st.lists(HOSTILE | st.binary(max_size=8)), st.integers(1, 7))
def test_pieces_and_a_handed_over_state_make_the_same_text(pieces: list[bytes], size: int) -> None:
    data = b"".join(pieces)
    state, found = "", []
    for at in range(0, len(data), size):
        one = TerminalText(state)
        found.append(str(one.feed(data[at : at + size])))
        state = one.state
    found.append(str(TerminalText(state).feed(b"", is_last=True)))

    joined = re.sub(r"</span>(?=<span)", "", "".join(found))
    assert TAG.sub("", joined) == TAG.sub("", str(terminal_html(data)))


@cases(
    ("codes", "classes"),
    [
        ("31", "a-f1"),
        ("1;91;44", "a-f9 a-b4 a-bold"),
        ("", ""),
        ("31;0", ""),
        ("31;39", ""),
        ("1;4;22", "a-under"),
        ("38;5;196", "a-f9"),
        ("38;2;0;0;255;1", "a-f12 a-bold"),
        ("48:5:2", "a-b2"),
        ("38;5;999", ""),
        ("38", ""),
        ("777;3", "a-italic"),
        ("107", "a-b15"),
        ("38;5;244", "a-f8"),
    ],
)
def test_codes_become_classes(codes: str, classes: str) -> None:
    assert Style().then(codes).classes == classes


def test_line_ends_and_waiting_bytes() -> None:
    one = TerminalText()
    first, second = one.feed(b"10%\r"), one.feed(b"\n20%\r30%\xc3")

    assert (str(first), str(second), one.state) == ("10%", "\n20%\n30%", "_c3")
    assert str(one.feed(b"", is_last=True)) == "\ufffd"
    for state in ("x", "f1 ", "f999", "_0", "t5", "\u0661"):
        with pytest.raises(ValueError, match=re.escape(state)):
            TerminalText(state)
