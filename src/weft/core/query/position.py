"""Where in a query something is wrong, told so that a person sees it."""

import unicodedata
from dataclasses import dataclass

from weft.core.errors import BadQuery

SHOWN_MAX = 76
"""Characters of a line that are shown around the mark."""


@dataclass(frozen=True)
class Wrong(Exception):
    """Something is wrong with these characters; `parse_query` makes the error of it."""

    start: int
    stop: int
    message: str


def bad_query(text: str, wrong: Wrong) -> BadQuery:
    """Return the error that names line and column, with a mark below it."""
    start = min(wrong.start, len(text))
    line_start = text.rfind("\n", 0, start) + 1
    line_stop = text.find("\n", start)
    line = text[line_start : len(text) if line_stop < 0 else line_stop]
    column = start - line_start
    return BadQuery.at(
        wrong.message,
        line=text.count("\n", 0, start) + 1,
        column=column + 1,
        picture=_picture(line, column, max(1, wrong.stop - start)),
    )


def _picture(line: str, column: int, width: int) -> str:
    """Draw the part of the line around a column, and a mark below it."""
    first = max(0, min(column - SHOWN_MAX // 2, len(line) - SHOWN_MAX))
    shown = "".join(_drawn(one) for one in line[first : first + SHOWN_MAX])
    mark = "^" * max(1, min(width, len(shown) - (column - first)))
    return f"{shown}\n{' ' * (column - first)}{mark}"


def _drawn(character: str) -> str:
    """Replace characters that take no column, or more than one."""
    if character.isspace():
        return " "
    return character if unicodedata.category(character)[0] in "LNPSZ" else "\ufffd"
