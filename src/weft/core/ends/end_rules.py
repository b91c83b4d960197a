"""What ends of an attempt mean: exit codes, their ranges, and signals.

retry_on: ["oom", "exit:3", "exit:10-20", "signal:USR1"]      external_errors: [66, "70-75"]
exit_codes: {"200-207": "success: no product"}
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from signal import Signals
from typing import Final

import msgspec

CODE_MAX: Final = 255
RULES_MAX: Final = 100
SUBTYPE_CHARS_MAX: Final = 60
SUCCESS: Final = "success"
_RANGE: Final = re.compile(r"([0-9]{1,3})(?:-([0-9]{1,3}))?")
_NAMED: Final = {name.removeprefix("SIG"): int(one) for name, one in Signals.__members__.items()}

Range = tuple[int, int]


class EndRules(msgspec.Struct, omit_defaults=True):
    """What decides after an exit or a signal, beyond the reason. Empty: nothing does."""

    exits: list[Range] = []
    """Exit codes after which it is tried again; the others are final."""
    signals: list[int] = []
    """Signals after which it is tried again; the others are final."""
    external: list[Range] = []
    """Exit codes that are external errors, as 75 always is."""
    successes: list[tuple[int, int, str | None]] = []
    """Ranges of exit codes that are successes, as 0 is, with a subtype; without one it is the
    code.
    """


def parse_codes(given: str | int) -> Range:
    """Read an exit code, `3`, or a range, `10-20`. Raise `ValueError`."""
    match = _RANGE.fullmatch(str(given))
    first = int(match[1]) if match else 0
    last = int(match[2] or match[1]) if match else 0
    if not 1 <= first <= last <= CODE_MAX:
        shown = str(given)[:40]
        raise ValueError(f"{shown!r} is no exit code of a failure, 1 to 255, and no range of them")
    return first, last


def parse_end_signal(word: str) -> int:
    """Read the name or the number of a signal that ends a job. Raise `ValueError`."""
    name = word.upper().removeprefix("SIG")
    number = _NAMED.get(name)
    if number is None and word.isascii() and word.isdigit() and int(word) in _NAMED.values():
        number = int(word)
    if number is None:
        raise ValueError(f"there is no signal {word[:40]!r}")
    return number


def parse_meaning(text: str) -> str | None:
    """Read what an exit code means, `success` or `success: no product`; return the subtype.
    Raise `ValueError`.
    """
    word, colon, subtype = text.partition(":")
    subtype = subtype.strip()
    if word.strip() != SUCCESS or (colon and not subtype) or len(subtype) > SUBTYPE_CHARS_MAX:
        raise ValueError(
            f"{text[:40]!r} is neither {SUCCESS} nor {SUCCESS}: and a subtype of at most "
            f"{SUBTYPE_CHARS_MAX} characters"
        )
    return subtype or None


def overlapping(ranges: Sequence[Range]) -> Range | None:
    """Return a range that shares a code with another one; None: there is none."""
    ordered = sorted(ranges)
    return next((two for one, two in pairwise(ordered) if two[0] <= one[1]), None)
