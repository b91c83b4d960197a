"""Make texts from the server short and harmless for a terminal."""

import re
from typing import Final

from weft.core.escapes import STEERING
from weft.core.texts import harmless

_STEERING: Final = re.compile(STEERING)


def plain(text: object) -> str:
    """Return the text with control characters replaced, so that it cannot steer the terminal."""
    return harmless(str(text))


def plain_json(text: str) -> str:
    """Return a JSON text in which escapes stand for what would steer the terminal, and mean the
    same.
    """
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def one_line(text: object, *, width: int = 60) -> str:
    """Return the text as one line of at most `width` characters."""
    line = plain(text).replace("\n", "⏎").replace("\t", " ")
    return line if len(line) <= width else line[: width - 1] + "…"
