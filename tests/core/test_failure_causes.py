from hypothesis import example, given
from hypothesis import strategies as st

from cases import cases
from weft.core.ends.failure_causes import (
    CAUSE_CHARS_MAX,
    LINE_CHARS_MAX,
    TAIL_BYTES,
    cause_text,
    error_line,
)

TRACEBACK = b"""\
2026-11-22 10:00:00 INFO no error yet
Traceback (most recent call last):
  File "/srv/load.py", line 12, in <module>
    raise ValueError("cannot parse row 17")
ValueError: cannot parse row 17
"""
PARTS = st.one_of(
    st.sampled_from(
        [
            "error:",
            "can't",
            "'",
            '"',
            "`",
            "/",
            "\\",
            "a/b",
            "x.csv",
            "http://h/p?q=1",
            "0xff",
            "12",
            "-3.5e7",
            "token",
            "=",
            "password: ",
            "Bearer ",
            "hunter2hunter2",
            "<n>",
            "…",
            "2026-11-22T10:00:00Z",
            "deadbeef01",
            "u:p@h",
            "://",
            "\u2018",
            "\u2019",
            " ",
            "\n",
        ]
    ),
    st.text(max_size=12),
)
TEXTS = st.lists(PARTS, max_size=60).map("".join)


@cases(
    ("output", "line"),
    [
        (b"", ""),
        (b" \n\n", ""),
        (b"loading\n", "loading"),
        (TRACEBACK, "ValueError: cannot parse row 17"),
        (b"note: 1\n  error: below\nlast\n", "error: below"),
        (b"a.c:3:1: error: expected ';'\na.c:9:1: error: again\n", "a.c:3:1: error: expected ';'"),
        (b"\x1b[31mfatal: no\x1b[0m\r\n", "fatal: no"),
        (b"\xff\xfe error \x00 x", "\N{REPLACEMENT CHARACTER}" * 2 + " error x"),
        (b"cat: a.txt: No such file or directory\n", "cat: a.txt: No such file or directory"),
    ],
)
def test_first_line_that_looks_like_the_error(output: bytes, line: str) -> None:
    assert error_line(output, {}) == line


@cases(
    ("message", "cause"),
    [
        ("cannot parse row 17 of /data/x.csv", "cannot parse row <n> of <path>"),
        ("KeyError: 'ada'", "KeyError: <text>"),
        (
            "'utf-8' codec can't decode byte 0xff in position 3",
            "<text> codec can't decode byte <id> in position <n>",
        ),
        ('[Errno 2] No such file: "a b"', "[Errno <n>] No such file: <text>"),
        (
            "2026-11-22T10:00:00.5Z node12: GET http://h:80/x?y=1 failed",
            "<time> node<n>: GET <url> failed",
        ),
        (
            "no volume 123e4567-e89b-12d3-a456-426614174000 (vol0ab12cd34e)",
            "no volume <id> (<id>)",
        ),
        ("cat: alpha.txt: No such file", "cat: <path>: No such file"),
        ("src/main.c:12:5: error: x", "<path>:<n>: error: x"),
        (r"cannot open C:\data\x", "cannot open <path>"),
        ("java.io.IOException: closed", "java.io.IOException: closed"),
    ],
)
def test_what_differs_is_taken_out(message: str, cause: str) -> None:
    assert cause_text(message) == cause


@given(TEXTS)
@example("password=" + "x" * 300)
@example("token=" * 60)
def test_causes_are_short_and_their_own_causes(message: str) -> None:
    cause = cause_text(message)

    assert cause_text(cause) == cause
    assert len(cause) <= CAUSE_CHARS_MAX
    assert "\n" not in cause


@given(TEXTS, st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_make_no_cause(text: str, one: int, two: int) -> None:
    assert cause_text(f"row {one} failed {text}") == cause_text(f"row {two} failed {text}")


@given(TEXTS)
def test_lines_are_short_and_one(text: str) -> None:
    output = text.encode("utf-8", "replace")
    line = error_line(output, {})

    assert len(line) <= LINE_CHARS_MAX
    assert line.isprintable() or line.split() == line.split(" ")


@cases(
    "said",
    [
        "401: token={}",
        "error: password: '{}'",
        'failed: {{"api_key": "{}"}}',
        "denied: Authorization: Bearer {}",
        "fatal: postgres://ada:{}@db/x",
        "error: {} is wrong",
    ],
)
def test_secrets_are_in_neither(said: str) -> None:
    secret = "ghp_0123456789abcdef"
    line = error_line(said.format(secret).encode(), {})

    assert secret not in line
    assert secret not in cause_text(said.format(secret))


def test_values_of_secret_variables_are_left_out() -> None:
    line = error_line(
        b"error: swordfish was refused by host",
        {
            "DB_PASSWORD": "swordfish",
            "HOST": "host",
            "EMPTY_TOKEN": "",
            "SHORT_TOKEN": "was",
        },
    )

    assert line == "error: <masked> was refused by host"


def test_only_the_end_is_looked_at() -> None:
    output = b"error: early\n" + b"x\n" * TAIL_BYTES + b"error: late\n"

    assert error_line(output, {}) == "error: late"
