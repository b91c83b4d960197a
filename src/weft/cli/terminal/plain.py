"""Make texts from the server short and harmless for a terminal, and write dates as people do."""

import sys
from datetime import datetime

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
