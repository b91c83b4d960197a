r"""Patterns (regular expressions) that somebody else may have run by us: what they may hold.

The library of guards compiles a pattern each time it is used, in RE2's way: it never goes back, so
its work is the size of what was compiled. That is what is bounded here: counted repetitions copy
what they repeat, and classes such as `\w` hold all of Unicode.
"""

import re
from typing import Final

CHARS_MAX: Final = 100
COUNT_MAX: Final = 10
"""The largest number in a counted repetition."""
CLASSES_MAX: Final = 10
"""Copies of classes that hold all of Unicode: each takes about 0.3 ms."""
_TOKEN: Final = re.compile(
    r"""(?P<wide>\\(?:[wWdDsSbB]|[pP](?:\{[^}]*\}?|.)?))
    |(?P<escape>\\.?)
    |(?P<open>\((?:\?[^:)]*:?)?)
    |(?P<close>\))
    |(?P<class>\[\^?)
    |(?P<end>\])
    |\{(?P<least>\d+)(?:,(?P<most>\d*))?(?P<count>\})
    |(?P<brace>\{)
    |(?P<repeat>[*+?])
    |(?P<plain>.)""",
    re.VERBOSE | re.DOTALL,
)
_GROUPS: Final = frozenset({"(", "(?:", "(?i", "(?i:"})


class WrongPattern(ValueError):
    """A pattern that is refused, and why."""


def check_pattern(text: str, *, repeated: bool = False) -> None:
    """Raise `WrongPattern` for one whose compiled form is not small. `repeated`: it is used in a
    loop, where it may have no counted repetition and no class that holds all of Unicode.
    """
    if len(text) > CHARS_MAX:
        raise WrongPattern(f"the pattern has {len(text)} characters, at most {CHARS_MAX}")
    found = _Reader()
    for sign in _TOKEN.finditer(text):
        found.take(sign)
    if repeated and (found.has_count or found.n_wide):
        raise WrongPattern(
            "in a loop a pattern has no counted repetition, and no class such as \\w: write [a-z]"
        )
    if found.n_wide * (COUNT_MAX if found.has_count else 1) > CLASSES_MAX:
        raise WrongPattern(
            f"at most {CLASSES_MAX} classes such as \\w, and one beside a counted repetition"
        )


class _Reader:
    """What a pattern holds. What other readers of patterns may take otherwise is refused."""

    def __init__(self) -> None:
        self.has_count = False
        self.n_wide = 0
        self._class_at: int | None = None
        """Where the class begins that is open."""
        self._groups: list[bool] = []
        """Of each open group: whether there is a counted repetition in it."""
        self._is_counted = False
        """Whether there is one in what a repetition at this place would repeat."""

    def take(self, sign: re.Match[str]) -> None:
        """Look at the next sign. Raise `WrongPattern`."""
        kind, text = sign.lastgroup, sign.group()
        self.n_wide += kind == "wide"
        if self._class_at is not None:
            self._in_class(sign)
        elif kind in {"repeat", "count"}:
            if self._is_counted and text != "?":
                raise WrongPattern("a counted repetition cannot stand in what is repeated")
            if kind == "count":
                _check_count(sign["least"], sign["most"])
                self.has_count = self._is_counted = True
                self._groups = [True] * len(self._groups)
        elif kind == "close":
            self._is_counted = bool(self._groups) and self._groups.pop()
        else:
            self._is_counted = False
            self._begin(sign)

    def _begin(self, sign: re.Match[str]) -> None:
        kind, text = sign.lastgroup, sign.group()
        if kind == "class":
            self._class_at = sign.end()
        elif kind == "brace" or (kind == "open" and text not in _GROUPS):
            raise WrongPattern(f"{text} cannot stand here; for the sign itself write \\{text[0]}")
        elif kind == "open":
            self._groups.append(False)

    def _in_class(self, sign: re.Match[str]) -> None:
        if sign.lastgroup == "class" or (
            sign.lastgroup == "end" and sign.start() == self._class_at
        ):
            raise WrongPattern(f"in brackets write \\{sign[0][0]} instead of {sign[0][0]}")
        if sign.lastgroup == "end":
            self._class_at = None


def _check_count(least: str, most: str | None) -> None:
    largest = max(int(least[:9]), int((most or "0")[:9]))
    if largest > COUNT_MAX:
        raise WrongPattern(f"it repeats {largest} times, at most {COUNT_MAX}")
