"""The progress of a batch or group on standard error, if that is a terminal: one line, or, as
`weft status --watch` shows it, bar, counts, rate, end and what its jobs say.
"""

import os
import sys
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from weft.cli.terminal.raw_output import STDERR, write_note
from weft.client.progress_bar import REDRAW_S, Counts, draw_rich, is_bar_drawable, rich_bar
from weft.core.ids import format_job_ref
from weft.core.progress_file import progress_words
from weft.core.text.amounts import coming

if TYPE_CHECKING:
    from rich.progress import Progress

    from weft.client.api import Document

CLEAR_LINE = b"\r\x1b[2K"
COLUMNS = 80
"""Of a terminal that does not say how wide it is."""


def line_width() -> int:
    """Return how long a line on standard error may be so that it can be drawn again."""
    try:
        columns = os.get_terminal_size(STDERR).columns
    except OSError:
        columns = 0
    return (columns or COLUMNS) - 1


class ProgressLine:
    """A bar that is redrawn in place. `hide` takes it away before other text is written.

    It draws when it is told something new, at most ten times a second; without a terminal it
    does nothing. rich computes the line; it is written by hand, because outputs of jobs must
    pass between two drawings as they are.
    """

    def __init__(self, title: str) -> None:
        self.is_shown = is_bar_drawable()
        self._title = title
        self._drawn_at = 0.0
        self._is_on_screen = False
        self.is_mid_line = False
        """Whether other text stands on the terminal's last line, so that a bar would overwrite
        it.
        """
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hide()

    def update(self, batch: Mapping[str, Any]) -> None:
        """Show the progress of a batch."""
        self.draw(Counts.of(batch))

    def draw(self, counts: Counts) -> None:
        """Show these counts, unless the line was just drawn."""
        if not self.is_shown or self.is_mid_line:
            return
        now = monotonic()
        if now - self._drawn_at < REDRAW_S and not counts.is_whole:
            return
        self._drawn_at = now
        write_note(CLEAR_LINE + self._render(counts))
        self._is_on_screen = True

    def hide(self) -> None:
        """Clear the line."""
        if self._is_on_screen:
            write_note(CLEAR_LINE)
            self._is_on_screen = False

    def _render(self, counts: Counts) -> bytes:
        from rich.console import Console  # noqa: PLC0415

        if self._bar is None:
            console = Console(stderr=True, force_terminal=True, width=line_width())
            self._bar = rich_bar(self._title, console)
        draw_rich(self._bar, counts)
        console = self._bar.console
        with console.capture() as capture:
            console.print(self._bar.get_renderable(), end="", no_wrap=True, overflow="crop")
        return str(capture.get()).rstrip("\n").split("\n")[0].encode()


WINDOW_S = 60.0
"""The rate is that of this time: an older one says little about the end."""
SLOW = 1.0
BAR_MIN, BAR_MAX = 5, 30
TENTHS = 10
TOLD_MAX = 5
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
    share = counts.share
    words = ", ".join((counts.text(), *pace))
    text = f"{int(share * 100)}% {words}"
    room = min(BAR_MAX, width - len(name) - len(text) - 4)
    if room < BAR_MIN:
        return f"{name} {text}"[:width]
    full = int(share * room)
    return f"{name} [{'#' * full}{'.' * (room - full)}] {text}"[:width]


def lines_below(batch_id: int, counts: Counts, *, width: int) -> list[str]:
    """Return a line for each running job that says how far it is, as many as are shown."""
    from rich.cells import set_cell_size  # noqa: PLC0415 (most batches say nothing)

    rows = [
        (format_job_ref(batch_id, job["job_id"]), progress_words(job, chars=width))
        for job in counts.told[:TOLD_MAX]
    ]
    room = max((len(ref) for ref, _ in rows), default=0)
    return [set_cell_size(f"  {ref:<{room}} {words}", width).rstrip() for ref, words in rows]


class LiveStatus:
    """Draws on standard error, below its line what running jobs say. When that is not a terminal,
    a line is written at each tenth.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._pace = Pace()
        self._tenth = -1
        self._has_lines_below = False

    def show(self, document: "Document") -> None:
        """Show a batch or a group."""
        counts = Counts.of(document)
        self._pace.note(counts.done, monotonic())
        pace = self._pace.words(counts.total or 0, datetime.now(UTC).astimezone())
        if is_bar_drawable():
            width = line_width()
            lines = [line_of(self._name, counts, pace, width=width)]
            if counts.told:
                lines += lines_below(document["id"], counts, width=width)
            self._draw(lines)
            return
        tenth = int(TENTHS * counts.share)
        if tenth != self._tenth:
            self._tenth = tenth
            words = ", ".join((counts.text() + counts.said(), *pace))
            print(f"{self._name}: {words}", file=sys.stderr, flush=True)

    def hide(self) -> None:
        """Clear the lines."""
        if is_bar_drawable():
            self._draw([])

    def _draw(self, lines: list[str]) -> None:
        """Replace the lines; the cursor stays in the first."""
        up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
        below = "\x1b[J" if self._has_lines_below else ""
        self._has_lines_below = len(lines) > 1
        write_note(CLEAR_LINE + (below + "\r\n".join(lines) + up).encode())
