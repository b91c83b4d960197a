"""One line of progress on standard error, if that is a terminal."""

import os
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from weft.cli.terminal.raw_output import STDERR, write_note
from weft.client.progress_bar import REDRAW_S, Counts, draw_rich, is_bar_drawable, rich_bar

if TYPE_CHECKING:
    from rich.progress import Progress

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
        counts = Counts.of(batch)
        self.draw(counts.done, counts.total, failed=counts.failed, running=counts.running)

    def draw(self, done: int, total: int | None, *, failed: int = 0, running: int = 0) -> None:
        """Show these counts, unless the line was just drawn. `total`: None while it is unknown."""
        if not self.is_shown or self.is_mid_line:
            return
        now = monotonic()
        if now - self._drawn_at < REDRAW_S and done != total:
            return
        self._drawn_at = now
        write_note(CLEAR_LINE + self._render(Counts(done, total, failed, running)))
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
