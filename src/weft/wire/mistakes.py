"""What msgspec says of a wrong value, in words and with a JSON pointer."""

import re
from typing import Final

_LIMIT: Final = re.compile(r"expected `(?:int|float)` (<=|>=|<|>) (-?[0-9.]+)")
_WORDS: Final = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}


def mistake_of(error: str) -> tuple[str, str]:
    """Return where a mistake is, as far as it is said, and what it is.

    >>> mistake_of("Expected `float` <= 5.0 - at `$.jobs[3].timeout_s`")
    ('/jobs/3/timeout_s', 'expected at most 5')
    """
    path = error.partition(" - at ")[2].strip("`").removeprefix("$").replace("[...]", "")
    return path.replace("[", "/").replace("]", "").replace(".", "/"), said(error)


def said(error: str) -> str:
    """Return what the mistake is."""
    message = error.partition(" - at ")[0]
    message = message[:1].lower() + message[1:]
    return _LIMIT.sub(lambda found: f"expected {_WORDS[found[1]]} {float(found[2]):.15g}", message)
