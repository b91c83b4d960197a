"""Make texts from the server short and harmless for a terminal, and write dates as people do."""

import re
import sys
from datetime import datetime
from typing import Final, TextIO

from weft.core.text.texts import harmless


def plain(text: object) -> str:
    """Return the text with control characters replaced, so that it cannot steer the terminal."""
    return harmless(str(text))


def one_line(text: object, *, width: int = 60) -> str:
    """Return the text as one line of at most `width` characters."""
    line = plain(text).replace("\n", "⏎").replace("\t", " ")
    return line if len(line) <= width else line[: width - 1] + "…"


def cell(text: object, *, width: int) -> str:
    """Return the text as one line of a table: at most `width` characters on a terminal, all of
    it in a pipe or file.
    """
    return one_line(text, width=width if sys.stdout.isatty() else sys.maxsize)


def moment(text: str | None) -> str:
    """Write a time of the api in this machine's zone."""
    if not text:
        return ""
    return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")


_NARROW: Final = 20
_BACKTICKED: Final = re.compile(r"`[^`]*`")
_KEPT: Final = "\x00"
"""Stands for a blank at which a line is not broken; no printed text has one."""


def wrapped(text: str, stream: TextIO, *, first: str = "", rest: str = "  ") -> str:
    """Return a text that begins with `first`, its other lines with `rest`.

    On a terminal its lines are as wide as that, and what stands in backticks stays together: it
    is there to be copied.
    """
    lines = text.split("\n")
    if not stream.isatty():
        return first + f"\n{rest}".join(lines)
    import shutil  # noqa: PLC0415 (4 ms; most commands say nothing)
    import textwrap  # noqa: PLC0415

    width = max(_NARROW, shutil.get_terminal_size().columns)
    room = width - len(rest)

    def kept(match: re.Match[str]) -> str:
        return match[0].replace(" ", _KEPT) if len(match[0]) <= room else match[0]

    wrapper = textwrap.TextWrapper(width, break_long_words=True, break_on_hyphens=False)
    shown: list[str] = []
    for line in lines:
        wrapper.initial_indent, wrapper.subsequent_indent = rest if shown else first, rest
        shown += wrapper.wrap(_BACKTICKED.sub(kept, line)) or [""]
    return "\n".join(shown).replace(_KEPT, " ")
