"""Choose lines by a regular expression, whatever the expression.

Python's engine tries one way after the other, so for a pattern such as `(a+)+$` one line can take
longer than anybody waits. But it looks for signals while it does so: an alarm on the processor
time of this process ends it. A check of the pattern beforehand would refuse harmless ones.
"""

import re
import signal
from collections.abc import Sequence
from types import FrameType

from weft.core.errors import Invalid
from weft.core.text.escapes import without_escapes

CPU_S_MAX = 2.0
"""For the lines of one read, which usually take less than a hundredth of it."""


class PatternTooSlow(Invalid, code="CLI.PATTERN_TOO_SLOW"):
    """A regular expression needs more time for a few lines than is sensible."""


class _TooLongError(Exception):
    """The alarm went off."""


class Grep:
    """Chooses lines in which a pattern is found; colours do not count. For a main thread."""

    def __init__(self, pattern: str) -> None:
        """Raise `ValueError` if it is no regular expression."""
        try:
            self._search = re.compile(pattern).search
        except (re.error, RecursionError, OverflowError) as error:
            raise ValueError(f"{pattern[:60]!r} is no regular expression: {error}") from error
        self._pattern = pattern

    def choose(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return the lines with the pattern. Raise `PatternTooSlow`."""
        before = signal.signal(signal.SIGVTALRM, _end)
        try:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S_MAX)
                return [
                    line
                    for line in lines
                    if self._search(without_escapes(line.decode("utf-8", "replace")))
                ]
            finally:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        except _TooLongError:
            raise PatternTooSlow(
                f"the pattern {self._pattern[:60]!r} takes too long",
                detail=f"It was tried for {CPU_S_MAX:g} s on a few lines.",
                hint="A repetition within a repetition does that, as in `(a+)+`; write only one.",
            ) from None
        finally:
            signal.signal(signal.SIGVTALRM, before)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise _TooLongError
