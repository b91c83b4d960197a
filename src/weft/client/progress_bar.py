"""Progress, shown where a person looks: one bar that is redrawn in place.

On a terminal rich draws it on the last line of standard error, and what a program prints meanwhile
appears above. In a notebook it is one output that changes, in HTML and as text: a batch or a group
is its card. Elsewhere nothing is shown, unless somebody asked: then a line is printed whenever a
tenth more is done.
"""

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar, cast

from weft.client.answer import Answer
from weft.core.progress_file import parts_of, progress_words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress

AnswerT = TypeVar("AnswerT", bound=Answer)
TEXT_CHARS: Final = 30
REDRAW_S = 0.1
TENTHS = 10


@dataclass(frozen=True)
class Counts:
    """What a bar shows. `total` `None`: not known yet."""

    done: int
    total: int | None
    failed: int = 0
    running: int = 0
    status: Mapping[str, Any] | None = None
    """The document of the batch or the group that they are from."""

    @classmethod
    def of(cls, status: Mapping[str, Any]) -> Self:
        """Return those of a batch or a group."""
        return cls(
            status["n_completed"],
            status["n_jobs"],
            failed=status["n_failed"] + status["n_errored"],
            running=status["n_running"],
            status=status,
        )

    @property
    def is_whole(self) -> bool:
        """Say whether all is done."""
        return self.done == self.total

    @property
    def told(self) -> Sequence[Mapping[str, Any]]:
        """Return what running jobs say of themselves, the newest word first."""
        return () if self.status is None else self.status.get("progress", ())

    @property
    def parts(self) -> float:
        """Return how many are done, with parts of those that run, if these are few."""
        return self.done + parts_of(self.told, self.running)

    @property
    def share(self) -> float:
        """Return how much of all is done, from 0 to 1."""
        return self.parts / self.total if self.total else 0.0

    def said(self, mark: Callable[[str], str] = str) -> str:
        """Return what a single running job says, to stand behind `text`."""
        job = self.told[0] if self.running == 1 and self.told else None
        return f"; {mark(progress_words(job, chars=TEXT_CHARS))}" if job else ""

    def text(self, red: Callable[[str], str] = str) -> str:
        """Return them in words; `red` marks what a person should see."""
        parts = [f"{self.done:,}/{self.total:,}" if self.total is not None else f"{self.done:,}"]
        if self.running:
            parts.append(f"{self.running:,} running")
        if self.failed:
            parts.append(red(f"{self.failed:,} failed"))
        return ", ".join(parts)


class Screen(Protocol):
    """Where a bar is shown."""

    def draw(self, counts: Counts) -> None:
        """Replace the counts shown."""

    def close(self) -> None:
        """Leave the last counts on the screen."""


class OnCard(Answer):
    """A status that stands in the notebook already, so a cell that ends with it shows no more."""

    def _ipython_display_(self) -> None:
        """Show nothing."""


class Progress:
    """A bar for the duration of a `with` block. `shown` None: only if somebody can see it."""

    def __init__(self, title: str, *, shown: bool | None, total: int | None = None) -> None:
        self._open = _opener(title, is_asked=shown)
        self._screen: Screen | None = None
        self._counts = Counts(0, total)
        self._drawn_at = 0.0

    @property
    def is_shown(self) -> bool:
        """Say whether anything is drawn."""
        return self._open is not None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave the bar as it is; further counts are not drawn."""
        if self._screen is not None:
            self._screen.close()
        self._open = self._screen = None

    def update(self, status: Mapping[str, Any]) -> None:
        """Show the progress of a batch or a group."""
        self._draw(Counts.of(status))

    def result(self, status: AnswerT) -> AnswerT:
        """Return what a wait returns: the last status, which a notebook has on its card."""
        is_on_card = isinstance(self._screen, _Notebook)
        return cast("AnswerT", OnCard(status)) if is_on_card else status

    def advance(self, count: int) -> None:
        """Count more items as done."""
        self._draw(Counts(self._counts.done + count, self._counts.total))

    def advance_to(self, done: int, total: int | None) -> None:
        """Set the number of items done."""
        self._draw(Counts(done, total))

    def _draw(self, counts: Counts) -> None:
        self._counts = counts
        now = monotonic()
        if self._open is None or (now - self._drawn_at < REDRAW_S and not counts.is_whole):
            return
        if self._screen is None:  # only once there is something to show
            self._screen = self._open()
        self._drawn_at = now
        self._screen.draw(counts)


def rich_bar(title: str, console: "Console", *, redirect_stdout: bool = True) -> "RichProgress":
    """Return rich's bar with our columns. Its task 0 has the field `counts`."""
    from rich.markup import escape as plain  # noqa: PLC0415 (takes longer than a short command)
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[counts]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        redirect_stdout=redirect_stdout,
    )
    bar.add_task(plain(title), total=None, counts="")
    return bar


def draw_rich(bar: "RichProgress", counts: Counts) -> None:
    """Show these counts in a bar of `rich_bar`."""
    from rich.markup import escape as plain  # noqa: PLC0415 (as above)

    text = counts.text(lambda word: f"[red]{word}[/]") + counts.said(plain)
    # The first task of a bar is number 0; rich has a type of its own for that.
    bar.update(bar.task_ids[0], completed=counts.parts, total=counts.total, counts=text)


def is_bar_drawable() -> bool:
    """Say whether standard error is a terminal on which a line can be drawn again."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return is_terminal and os.environ.get("TERM") != "dumb"


def _opener(title: str, *, is_asked: bool | None) -> Callable[[], Screen] | None:
    """Return what opens the screen for this program; None: nothing is to be shown."""
    if is_asked is False:
        return None
    display = _notebook_display()
    if display is not None:
        return lambda: _Notebook(title, display)
    if is_bar_drawable():
        return lambda: _Terminal(title)
    return (lambda: _Lines(title)) if is_asked else None


class _Terminal:
    def __init__(self, title: str) -> None:
        from rich.console import Console  # noqa: PLC0415

        # What is printed elsewhere must go there, not to this terminal.
        redirected = sys.stdout is not None and sys.stdout.isatty()
        self._bar = rich_bar(title, Console(stderr=True), redirect_stdout=redirected)
        self._bar.start()

    def draw(self, counts: Counts) -> None:
        draw_rich(self._bar, counts)

    def close(self) -> None:
        self._bar.stop()


class _Notebook:
    def __init__(self, title: str, display: Callable[..., Any]) -> None:
        self._title = title
        self._display = display
        self._handle: Any = None  # IPython's

    def draw(self, counts: Counts) -> None:
        bundle = _bundle(self._title, counts)
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)

    def close(self) -> None:
        pass


class _Lines:
    def __init__(self, title: str) -> None:
        self._title = title
        self._tenth = -1

    def draw(self, counts: Counts) -> None:
        tenth = int(TENTHS * counts.share)
        if tenth != self._tenth:
            self._tenth = tenth
            print(f"{self._title}: {counts.text()}{counts.said()}", file=sys.stderr, flush=True)  # noqa: T201 (asked for)

    def close(self) -> None:
        pass


def _notebook_display() -> Callable[..., Any] | None:
    """Return IPython's `display` in a kernel; not in its terminal, which is one."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    display: Callable[..., Any] = importlib.import_module("IPython.display").display
    return display


def _bundle(title: str, counts: Counts) -> dict[str, str]:
    """Return progress as a notebook takes it, which shows what it can."""
    from weft.client.card import card_html  # noqa: PLC0415 (only notebooks need it)

    status = counts.status
    page = _bar_html(title, counts) if status is None else card_html(title, status)
    return {"text/plain": f"{title}: {counts.text()}{counts.said()}", "text/html": page}


def _bar_html(title: str, counts: Counts) -> str:
    """Return the bar of an upload, a retry or other work."""
    from html import escape  # noqa: PLC0415

    most = f' max="{counts.total}"' if counts.total else ""
    value = f' value="{counts.done}"' if counts.total else ""
    words = counts.text(lambda word: f'<b style="color:#c00">{word}</b>')
    return f"{escape(title)} <progress{value}{most}></progress> {words}"
