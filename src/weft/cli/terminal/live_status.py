"""The progress of a batch or group on one line that is redrawn: bar, counts, rate, end."""

import sys
from collections import deque
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING

from weft.cli.terminal.progress_line import CLEAR_LINE, line_width
from weft.cli.terminal.raw_output import write_note
from weft.client.progress_bar import Counts, is_bar_drawable
from weft.core.text.amounts import coming

if TYPE_CHECKING:
    from weft.client.api import Document

WINDOW_S = 60.0
"""The rate is that of this time: an older one says little about the end."""
SLOW = 1.0
BAR_MIN, BAR_MAX = 5, 30
TENTHS = 10
SECONDS_MAX = 10 * 365 * 86400


class Pace:
    """How many jobs end in a second, and when the last one will."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, done: int, at_s: float) -> None:
        """Note how many have ended at a time of the monotonic clock."""
        self._seen.append((at_s, done))
        while self._seen[0][0] < at_s - WINDOW_S and len(self._seen) > 2:  # noqa: PLR2004 (two make a rate)
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Return jobs per second; 0 while that is unknown."""
        (first_s, first), (last_s, last) = self._seen[0], self._seen[-1]
        return max(0, last - first) / (last_s - first_s) if last_s > first_s else 0.0

    def words(self, total: int, now: datetime) -> list[str]:
        """Return rate and end: `12.3/s`, `ends 18:00 (in 2 h)`; nothing that is unknown."""
        left, rate = total - self._seen[-1][1], self.rate
        if not rate:
            return []
        shown = f"{rate:,.1f}/s" if rate >= SLOW else f"{rate * 60:,.1f}/min"
        if left <= 0 or left / rate > SECONDS_MAX:
            return [shown]
        return [shown, f"ends {coming(now + timedelta(seconds=left / rate), now)}"]


def line_of(name: str, counts: Counts, pace: list[str], *, width: int) -> str:
    """Return the line for a screen of this width: the bar gives way first, then the end."""
    total = counts.total or 0
    share = counts.done / total if total else 0.0
    words = ", ".join((counts.text(), *pace))
    text = f"{int(share * 100)}% {words}"
    room = min(BAR_MAX, width - len(name) - len(text) - 4)
    if room < BAR_MIN:
        return f"{name} {text}"[:width]
    full = int(share * room)
    return f"{name} [{'#' * full}{'.' * (room - full)}] {text}"[:width]


class LiveStatus:
    """Draws on standard error. When that is not a terminal, a line is written at each tenth."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._pace = Pace()
        self._tenth = -1

    def show(self, document: "Document") -> None:
        """Show a batch or a group."""
        counts = Counts.of(document)
        self._pace.note(counts.done, monotonic())
        pace = self._pace.words(counts.total or 0, datetime.now(UTC).astimezone())
        if is_bar_drawable():
            line = line_of(self._name, counts, pace, width=line_width())
            write_note(CLEAR_LINE + line.encode())
            return
        tenth = TENTHS * counts.done // counts.total if counts.total else 0
        if tenth != self._tenth:
            self._tenth = tenth
            words = ", ".join((counts.text(), *pace))
            print(f"{self._name}: {words}", file=sys.stderr, flush=True)

    def hide(self) -> None:
        """Clear the line."""
        if is_bar_drawable():
            write_note(CLEAR_LINE)
