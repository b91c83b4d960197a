"""What in a text steers a terminal, recognised in one place: colours, other sequences, control
characters, and marks that change the direction of writing.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

SEQUENCE_CHARS_MAX: Final = 64
"""A sequence that is longer is none."""
STEERING: Final = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""Control characters (C0 but tab and newline, DEL, C1), and those that change the direction of
writing.
"""
_STEERING: Final = re.compile(STEERING)
ESCAPE: Final = re.compile(
    "\x1b\\[(?P<colour>[0-9;:]*)m|(?P<sequence>\x1b\\[[0-?]*[ -/]*[@-~])|" + STEERING
)
"""One match each: a colour (its codes), another CSI sequence, or a single character (without tab
and newline). Its repeated classes have no character in common and none is ESC, so the time is
linear in any text.
"""
_BEGUN: Final = re.compile(f"\x1b(?:\\[[0-?]{{0,{SEQUENCE_CHARS_MAX}}}[ -/]{{0,8}})?\\Z")

_STYLES: Final = frozenset({*range(8), 9, *range(21, 26), 27, 29, *range(30, 50), *range(90, 108)})
"""Codes of a colour sequence that stay: all but those that conceal, or that few terminals know."""
_PALETTES: Final = {"5": 1, "2": 3}
"""Of larger palettes, how many numbers follow."""


def escaped_in_json(text: str, steering: re.Pattern[str] = _STEERING) -> str:
    r"""Return a JSON text in which escapes stand for what would steer a terminal, and mean the
    same.

    >>> escaped_in_json('["\x9b2J"]')
    '["\\u009b2J"]'
    """
    return steering.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def without_escapes(text: str) -> str:
    r"""Return a text without sequences and control characters.

    >>> without_escapes("\x1b[1;31mred\x1b[0m\x1b[2K!")
    'red!'
    """
    return ESCAPE.sub("", text)


def only_colours(text: str) -> str:
    r"""Return a text for a terminal: colours and carriage returns stay, the rest steers nothing
    and conceals nothing.

    >>> only_colours("\x1b[1;8mhidden")
    '\x1b[1mhidden'
    >>> only_colours("\x1b[31mred\x1b[2J\r")
    '\x1b[31mred\ufffd[2J\r'
    """
    return ESCAPE.sub(_colour_only, text)


def begun_sequence(text: str) -> str:
    r"""Return the end of a text that may be the begin of a sequence; usually nothing.

    >>> begun_sequence("red\x1b[3")
    '\x1b[3'
    """
    at = text.rfind("\x1b", -SEQUENCE_CHARS_MAX)
    match = _BEGUN.match(text, at) if at >= 0 else None
    return match[0] if match else ""


def _colour_only(match: re.Match[str]) -> str:
    if (codes := match["colour"]) is not None:
        kept = ";".join(_styles(codes))
        return f"\x1b[{kept}m" if kept or not codes else ""
    if match[0] == "\r":
        return match[0]
    return f"\ufffd{match[0][1:]}"


def _styles(codes: str) -> Iterator[str]:
    given = iter(codes.split(";"))
    for one in given:
        first, colon, _ = one.partition(":")
        code = int(first or 0) if len(first) <= SEQUENCE_CHARS_MAX else -1
        if code in {38, 48} and not colon:
            kind = next(given, "")
            yield from (one, kind, *islice(given, _PALETTES.get(kind.lstrip("0"), 0)))
        elif code in _STYLES and not (colon and code not in {4, 38, 48}):
            yield one
