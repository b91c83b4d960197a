"""Which ends of an attempt lead to another one: exit codes, their ranges, and signals.

retry_on: ["oom", "exit:3", "exit:10-20", "signal:USR1"]      external_errors: [66, "70-75"]
"""

import re
from signal import Signals
from typing import Final

import msgspec

CODE_MAX: Final = 255
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
