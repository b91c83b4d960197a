"""Make texts from the server short and harmless for a terminal."""

import re

# Control characters (C0 but tab and newline, DEL, C1), and those that change the direction of
# writing.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def plain(text: object) -> str:
    """Return the text with control characters replaced, so that it cannot steer the terminal."""
    return _HARMFUL.sub("\ufffd", str(text))


def one_line(text: object, *, width: int = 60) -> str:
    """Return the text as one line of at most `width` characters."""
    line = plain(text).replace("\n", "⏎").replace("\t", " ")
    return line if len(line) <= width else line[: width - 1] + "…"
