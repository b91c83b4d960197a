"""A text that is sought in an output, and the match that is shown."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

Match = tuple[int, int]
"""The number of a line, and of a character in it."""


@dataclass
class Search:
    """What is sought, in small letters or capitals; empty: nothing."""

    text: str = ""
    at: Match | None = None
    """Where the last step has led."""

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """Return what finds the text in a line."""
        return re.compile(re.escape(self.text), re.IGNORECASE) if self.text else None

    def step(self, texts: Sequence[str], steps: int, *, top: int) -> str:
        """Go to the next match, or with -1 to the one before, and round at the end: at first from
        line `top` on. Return which it is of how many, in words.
        """
        matches = self._matches(texts)
        if not matches:
            self.at = None
            return f"no line has {self.text!r}"
        if self.at is None:
            index = bisect_left(matches, (top, 0)) - (steps < 0)
        elif steps > 0:
            index = bisect_left(matches, (self.at[0], self.at[1] + 1))
        else:
            index = bisect_left(matches, self.at) - 1
        index %= len(matches)
        self.at = matches[index]
        return f"{index + 1:,} of {len(matches):,}"

    def _matches(self, texts: Sequence[str]) -> list[Match]:
        pattern = self.pattern
        if pattern is None:
            return []
        return [
            (number, match.start())
            for number, text in enumerate(texts)
            for match in pattern.finditer(text)
        ]
